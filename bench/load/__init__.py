"""A load of our own: prebuilt requests over raw sockets from several processes.

Whoever asks how fast a server is must be sure that it was the server who was slow. So nothing is built while
time is taken (but the sequence numbers of idempotent producers), answers are counted and thrown away, long
ones in the kernel, and each turn tells how idle the clients were and how busy the server.

Used by `limit`, `small_requests` and `profiling`.
"""

from load.generator import LoadGenerator, Turn
from load.requests import InTurn, Numbered, Requests, Same

__all__ = ["InTurn", "LoadGenerator", "Numbered", "Requests", "Same", "Turn"]
