"""Opens a partition's folder as a log, whatever state the last stop left it in.

Called by `folder` and, for what only repair may do, by `repair`.
"""
