"""Sockets: accept, receive, answer in order, send."""

from wirekafka.server.serve import Serving, serve, sole_error

__all__ = ["Serving", "serve", "sole_error"]
