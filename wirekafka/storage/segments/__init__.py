"""One segment of a log: its file of batches, and the index files beside it.

Used by `log`, `recovery`, `cleaning` and `repair`; stands on `disk`.
"""
