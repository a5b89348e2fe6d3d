"""One sentence for each setting that does something in wirekafka, in our own words.

A setting that is missing here is accepted and checked, and does nothing. One in NOT_YET will do what
its sentence says once its part of the broker is built; who builds it takes its name out. `definition`
hands the sentences on to DescribeConfigs.

Source: ours; what each setting does is Kafka's.
"""

WITHOUT_EFFECT = "Accepted and checked as in Kafka; it has no effect in wirekafka."
PENDING = "As yet it has no effect in wirekafka."

_TOPIC = {
    "cleanup.policy": "What becomes of old segments: delete drops them, compact keeps the last of each key.",
    "compression.gzip.level": "How hard gzip works when the broker compresses, 1 to 9; -1 leaves it to gzip.",
    "compression.lz4.level": "How hard lz4 works when the broker compresses, 1 to 17.",
    "compression.type": "The codec batches are stored with; producer keeps what the producer chose.",
    "compression.zstd.level": "How hard zstd works when the broker compresses.",
    "delete.retention.ms": "How long a tombstone is kept after its segment was compacted.",
    "file.delete.delay.ms": "How long the files of a dropped segment stay on disk after they were renamed.",
    "flush.messages": "After how many records a partition is forced to disk.",
    "flush.ms": "After how many milliseconds an unforced record is forced to disk.",
    "index.interval.bytes": "About how many bytes of log lie between two entries of the offset index.",
    "max.compaction.lag.ms": "The longest a record may wait before its segment becomes due for compaction.",
    "max.decompressed.message.bytes": "The largest a batch may be once decompressed.",
    "max.message.bytes": "The largest batch, as stored, that the topic takes.",
    "message.timestamp.after.max.ms": "How far ahead of the broker's clock a record's timestamp may be.",
    "message.timestamp.before.max.ms": "How far behind the broker's clock a record's timestamp may be.",
    "message.timestamp.type": "Whose time records have: CreateTime the producer's, LogAppendTime ours.",
    "min.cleanable.dirty.ratio": "The uncompacted share of a log from which compaction is worth its work.",
    "min.compaction.lag.ms": "The shortest time a record stays out of reach of compaction.",
    "min.insync.replicas": "How many replicas a write with acks=all needs; there is one, so 2 refuses it.",
    "preallocate": "Give a new segment's file its full size at once.",
    "retention.bytes": "The size above which a partition drops its oldest segments; -1 for no limit.",
    "retention.ms": "The age above which a segment is dropped; -1 for no limit.",
    "segment.bytes": "The size at which a new segment is begun.",
    "segment.index.bytes": "The largest an index file may grow; a full one begins a new segment.",
    "segment.jitter.ms": "The most by which segment.ms is shortened, so that not all segments end at once.",
    "segment.ms": "The age at which a new segment is begun even if the old one is not full.",
    "wirekafka.durability": "What acks=all waits for: os for the page cache, fsync for the disk.",
}

_LOG = {
    "log.cleaner.backoff.ms": "How long the cleaner rests when it finds nothing to compact.",
    "log.cleaner.dedupe.buffer.size": "The memory in which compaction remembers keys, of all threads.",
    "log.cleaner.delete.retention.ms": "The default of the topic's delete.retention.ms.",
    "log.cleaner.enable": "Whether logs are compacted at all.",
    "log.cleaner.io.buffer.load.factor": "How full of keys that memory may become.",
    "log.cleaner.io.max.bytes.per.second": "The most that compaction reads and writes a second.",
    "log.cleaner.max.compaction.lag.ms": "The default of the topic's max.compaction.lag.ms.",
    "log.cleaner.min.cleanable.ratio": "The default of the topic's min.cleanable.dirty.ratio.",
    "log.cleaner.min.compaction.lag.ms": "The default of the topic's min.compaction.lag.ms.",
    "log.cleaner.threads": "How many logs are compacted at a time.",
    "log.cleanup.policy": "The default of the topic's cleanup.policy.",
    "log.dir": "The data folder, where log.dirs is not set.",
    "log.dirs": "The data folder; wirekafka keeps its data in one.",
    "log.flush.interval.messages": "The default of the topic's flush.messages.",
    "log.flush.interval.ms": "The default of the topic's flush.ms.",
    "log.flush.offset.checkpoint.interval.ms": "How often the recovery points are written.",
    "log.flush.scheduler.interval.ms": "The default of flush.ms, where log.flush.interval.ms is not set.",
    "log.flush.start.offset.checkpoint.interval.ms": "How often the log start offsets are written.",
    "log.index.interval.bytes": "The default of the topic's index.interval.bytes.",
    "log.index.size.max.bytes": "The default of the topic's segment.index.bytes.",
    "log.initial.task.delay.ms": "How long after the start the first retention check is done.",
    "log.message.timestamp.after.max.ms": "The default of the topic's message.timestamp.after.max.ms.",
    "log.message.timestamp.before.max.ms": "The default of the topic's message.timestamp.before.max.ms.",
    "log.message.timestamp.type": "The default of the topic's message.timestamp.type.",
    "log.preallocate": "The default of the topic's preallocate.",
    "log.retention.bytes": "The default of the topic's retention.bytes.",
    "log.retention.check.interval.ms": "How often it is checked which segments are due to be dropped.",
    "log.retention.hours": "The default of retention.ms in hours, where no finer setting is made.",
    "log.retention.minutes": "The default of retention.ms in minutes, where log.retention.ms is not set.",
    "log.retention.ms": "The default of the topic's retention.ms.",
    "log.roll.hours": "The default of segment.ms in hours, where log.roll.ms is not set.",
    "log.roll.jitter.hours": "The default of segment.jitter.ms in hours, where no finer setting is made.",
    "log.roll.jitter.ms": "The default of the topic's segment.jitter.ms.",
    "log.roll.ms": "The default of the topic's segment.ms.",
    "log.segment.bytes": "The default of the topic's segment.bytes.",
    "log.segment.delete.delay.ms": "The default of the topic's file.delete.delay.ms.",
    "message.max.bytes": "The default of the topic's max.message.bytes.",
    "num.recovery.threads.per.data.dir": "How many logs are checked at a time after an unclean stop.",
    "producer.id.expiration.check.interval.ms": "How often it is checked which producers may be forgotten.",
    "producer.id.expiration.ms": "How long the sequence numbers of an idle producer are remembered.",
}

_BROKER = {
    "advertised.listeners": "The addresses told to clients, where they differ from listeners.",
    "auto.create.topics.enable": "Whether asking for a topic that does not exist creates it.",
    "broker.id": "The older name of node.id.",
    "broker.rack": "The rack told to clients.",
    "connections.max.idle.ms": "How long a connection may be silent before it is closed.",
    "default.replication.factor": "The replicas of a topic created without a number; 1 is all there can be.",
    "delete.topic.enable": "Whether topics may be deleted.",
    "fetch.max.bytes": "The most bytes one fetch answers with, whatever the client asks for.",
    "listener.security.protocol.map": "The security protocol that each listener name stands for.",
    "listeners": "The addresses that are listened on, each as NAME://host:port.",
    "max.connections": "The most connections held at a time.",
    "max.connections.per.ip": "The most connections held at a time from one address.",
    "max.incremental.fetch.session.cache.slots": "The most fetch sessions remembered at a time.",
    "node.id": "The number by which clients know this broker.",
    "num.partitions": "The partitions of a topic created without a number.",
    "socket.listen.backlog.size": "How many connections may wait to be accepted.",
    "socket.receive.buffer.bytes": "The receive buffer of a socket; -1 leaves it to the system.",
    "socket.request.max.bytes": "The largest request that is read.",
    "socket.send.buffer.bytes": "The send buffer of a socket; -1 leaves it to the system.",
    "wirekafka.open.files.max": "The most data files kept open; 0 for a share of the process's limit.",
}

_GROUPS = {
    "group.initial.rebalance.delay.ms": "How long an empty group waits for members before it rebalances.",
    "group.max.session.timeout.ms": "The longest session timeout a member may ask for.",
    "group.max.size": "The most members a classic group may have.",
    "group.min.session.timeout.ms": "The shortest session timeout a member may ask for.",
    "offset.metadata.max.bytes": "The longest note that may be committed with an offset.",
    "offsets.retention.check.interval.ms": "How often it is checked which committed offsets have expired.",
    "offsets.retention.minutes": "How long committed offsets outlive the last member of their group.",
    "offsets.topic.num.partitions": "The partitions of a new __consumer_offsets.",
    "offsets.topic.replication.factor": "The replicas of a new __consumer_offsets.",
    "offsets.topic.segment.bytes": "The segment.bytes of a new __consumer_offsets.",
    "share.coordinator.state.topic.min.isr": "The min.insync.replicas of a new __share_group_state.",
    "share.coordinator.state.topic.num.partitions": "The partitions of a new __share_group_state.",
    "share.coordinator.state.topic.replication.factor": "The replicas of a new __share_group_state.",
    "share.coordinator.state.topic.segment.bytes": "The segment.bytes of a new __share_group_state.",
    "transaction.state.log.min.isr": "The min.insync.replicas of a new __transaction_state.",
    "transaction.state.log.num.partitions": "The partitions of a new __transaction_state.",
    "transaction.state.log.replication.factor": "The replicas of a new __transaction_state.",
    "transaction.state.log.segment.bytes": "The segment.bytes of a new __transaction_state.",
}

DOCUMENTATION = {**_TOPIC, **_LOG, **_BROKER, **_GROUPS}

NOT_YET = frozenset(
    {
        # Connections.
        "connections.max.idle.ms",
        "listener.security.protocol.map",
        "max.connections",
        "max.connections.per.ip",
        "socket.listen.backlog.size",
        "socket.receive.buffer.bytes",
        "socket.send.buffer.bytes",
    }
)
