"""Requests that say what an earlier one of their connection said, told by comparing bytes, not parsed.

Called by `handlers.repeated_produce` and `handlers.repeated_fetch`.
"""

from wirekafka.protocol.alike.fetch import AlikeFetch, FetchLikeness, FetchLikenesses, may_be_repeated
from wirekafka.protocol.alike.produce import AlikeProduce, ProduceLikeness, ProduceLikenesses

__all__ = [
    "AlikeFetch",
    "AlikeProduce",
    "FetchLikeness",
    "FetchLikenesses",
    "ProduceLikeness",
    "ProduceLikenesses",
    "may_be_repeated",
]
