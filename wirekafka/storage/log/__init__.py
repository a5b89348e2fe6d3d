"""One partition's log: appended, read, flushed, looked up by time, shortened at its beginning.

Opened by `recovery`; stands on `segments`, `producers` and `acceptance`.
"""
