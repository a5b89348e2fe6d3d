"""What produced batches must pass before they are appended, and how they are made to fit.

Called by `log`, and by `broker` for what is done in a thread. Pure: bytes in, bytes out.
"""
