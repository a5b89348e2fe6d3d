"""The times by which simulated members live, and the group that they are in.

Source: Kafka's consumer settings, made shorter so that a run is not long.
"""

GROUP = "g"
POLL_MS = 1_500
MAX_POLL_RECORDS = 3
"""Of each partition."""
COMMIT_MS = 4_000
HEARTBEAT_MS = 3_000
RETRY_MS = 200
SESSION_MS = 10_000
REBALANCE_MS = 20_000
"""max.poll.interval.ms too, as Kafka has it."""
EXCUSED_MS = SESSION_MS + REBALANCE_MS
