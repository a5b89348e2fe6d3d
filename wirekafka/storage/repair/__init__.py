"""Looks at the data folder of a broker that does not run, says what is wrong in it, and mends it.

Called by `cli`; no part of a running broker comes here.
"""
