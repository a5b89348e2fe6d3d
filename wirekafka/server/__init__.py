"""Sockets: accept, receive, answer in order, send."""

from wirekafka.server.descriptors import raise_descriptor_limit
from wirekafka.server.garbage import look_through_everything, survivors_put_aside
from wirekafka.server.serve import Serving, serve, sole_error

__all__ = [
    "Serving",
    "look_through_everything",
    "raise_descriptor_limit",
    "serve",
    "sole_error",
    "survivors_put_aside",
]
