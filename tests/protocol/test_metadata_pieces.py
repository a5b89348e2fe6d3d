"""metadata_pieces: the same bytes as the compiled codec gives for the same answer."""

from typing import Any

import pytest

from wirekafka.protocol.apis.metadata import (
    METADATA,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from wirekafka.protocol.codec import codec_for
from wirekafka.protocol.metadata_pieces import piece_of, with_topics


def topic(name: str, partitions: int, **facts: Any) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=0,
        name=name,
        topic_id=name.encode().ljust(16, b"\x09")[:16],
        partitions=[
            MetadataResponsePartition(
                error_code=0,
                partition_index=index,
                leader_id=1,
                leader_epoch=index,
                replica_nodes=[1, 2],
                isr_nodes=[1],
                offline_replicas=[2] * (index % 3),
            )
            for index in range(partitions)
        ],
        **facts,
    )


def response(topics: list[MetadataResponseTopic]) -> MetadataResponse:
    brokers = [MetadataResponseBroker(node_id=1, host="h" * 300, port=9092, rack="r")] * 2
    return MetadataResponse(brokers=brokers, cluster_id="c" * 22, controller_id=1, topics=topics)


@pytest.mark.parametrize("version", range(METADATA.versions.oldest, METADATA.versions.newest + 1))
@pytest.mark.parametrize(
    "topics",
    [
        [],
        [topic("t", 1)],
        [topic("ü" * 200, 0, is_internal=True), topic("", 300), topic("t", 3, topic_authorized_operations=7)],
        [topic(f"t{number}", number % 3) for number in range(200)],
    ],
    ids=["none", "one", "some", "many"],
)
def test_body_is_the_codecs_to_the_byte(version: int, topics: list[MetadataResponseTopic]) -> None:
    pieces = [piece_of(each, version) for each in topics]

    body = with_topics(response([]), pieces, version)

    assert body == codec_for(MetadataResponse, version).build(response(topics))
