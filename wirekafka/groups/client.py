"""`Client`: who joins a group, as it is stored with the member and shown to those who describe it.

Made by the handlers from a request's header and connection; kept by the members of both protocols.

Source: the client id and client host of Kafka's ClassicGroupMember and ConsumerGroupMember.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """The client id of the request header, and the peer's address as Kafka writes it."""

    client_id: str
    client_host: str
