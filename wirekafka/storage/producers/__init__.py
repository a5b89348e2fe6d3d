"""What a log remembers of those who write to it: sequence numbers, transactions, and their snapshots.

Asked by `log` at every append; filled again by `recovery`.
"""
