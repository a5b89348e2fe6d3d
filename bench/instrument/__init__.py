"""What every question of bench/ is asked and answered with.

`question` asks, `answers` and `figures` are what comes of it, `results` keeps it, `text`, `plots` and `page`
show it; `processes` and `machine` look at processes and at the machine.
"""
