"""Sockets: accept, receive, answer in order, send."""

from wirekafka.server.serve import Serving, serve

__all__ = ["Serving", "serve"]
