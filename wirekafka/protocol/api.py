"""`Api[Request, Response]`: what ties a key to its two message classes and their versions.

Each file of `apis` makes one; `handlers.registry` ties a function to it.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from wirekafka.protocol.message import Message, Versions

Req = TypeVar("Req", bound=Message)
Resp = TypeVar("Resp", bound=Message)


@dataclass(frozen=True, slots=True)
class Api(Generic[Req, Resp]):
    key: int
    request: type[Req]
    response: type[Resp]
    advertised_from: int | None = None
    """The oldest version that ApiVersions names, where it is not the oldest that is served.

    Produce says 0 for the sake of old librdkafka, which takes a higher minimum to mean that the
    broker speaks no message format it knows (KAFKA-18659).
    """

    @property
    def name(self) -> str:
        return self.request.__name__.removesuffix("Request")

    @property
    def versions(self) -> Versions:
        return self.request.versions

    @property
    def advertised(self) -> Versions:
        oldest = self.versions.oldest if self.advertised_from is None else self.advertised_from
        return Versions(oldest, self.versions.newest)

    def is_flexible(self, version: int) -> bool:
        """Whether requests of this version have the tagged header (request header v2)."""
        return version in self.request.flexible
