"""Requests that say what an earlier one of their connection said, told by comparing bytes, not parsed.

Called by `handlers.repeated_produce` and `handlers.repeated_fetch`.
"""

from wirekafka.protocol.alike.fetch import AlikeFetch, FetchLikeness, FetchLikenesses, may_be_repeated
from wirekafka.protocol.alike.produce import Alike, Likeness, Likenesses

__all__ = [
    "Alike",
    "AlikeFetch",
    "FetchLikeness",
    "FetchLikenesses",
    "Likeness",
    "Likenesses",
    "may_be_repeated",
]
