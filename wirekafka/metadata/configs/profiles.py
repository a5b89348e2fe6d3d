"""Named sets of defaults that differ from Kafka's.

Applied by `settings` below what the file and the command line say. Source: ours.
"""

PROFILES: dict[str, dict[str, str]] = {
    "dev": {
        "listeners": "PLAINTEXT://127.0.0.1:9092",
        # log.dir and not log.dirs, so that a file which names either of them has its way.
        "log.dir": "./data",
        "group.initial.rebalance.delay.ms": "0",
        # So that a member learns of a rebalance at once, and not by a heartbeat seconds later.
        "group.consumer.assignment.interval.ms": "0",
        "wirekafka.consumer.heartbeat.fastest.ms": "100",
        "wirekafka.heartbeat.hold.max.ms": "2500",
        # So that retention.ms=1000 is seen to work.
        "log.cleaner.backoff.ms": "1000",
        "log.initial.task.delay.ms": "1000",
        "log.retention.check.interval.ms": "1000",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
    },
    "kafka": {},
}
"""`dev` suits one broker on one machine; `kafka` is Kafka's defaults unchanged."""
