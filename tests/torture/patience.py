"""How long a broker may take on a machine that has more to do than processors for it."""

import os

_WHEN_BUSY = 5
"""So many times as long."""


def allowed(seconds: float) -> float:
    """What may be taken of a machine that is as busy as this one now, where an idle one has `seconds`."""
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return _WHEN_BUSY * seconds if is_busy else seconds
