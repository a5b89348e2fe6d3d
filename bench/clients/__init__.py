"""Stock clients at work: one program a client, driven by the questions about throughput and latency.

`by_...` are the programs, `work` is what they are told, `fleet` starts them, `turns` lets a broker have
its turns with them. `pace` and `paced` are a producer and a consumer at a fixed rate, for latency. Called by
`throughput` and `latency`.
"""

from clients.fleet import CLIENTS, Fleet, fleets
from clients.pace import Latencies, Pace, PacedPair
from clients.turns import MANY, Point, Side, Turn

__all__ = ["CLIENTS", "MANY", "Fleet", "Latencies", "Pace", "PacedPair", "Point", "Side", "Turn", "fleets"]
