"""OffsetCommit, OffsetFetch and OffsetDelete over TCP, in every form, held against Kafka 4.4."""

from typing import Any

import pytest

from tests.handlers.support import NO_ID, UNKNOWN_ID, fresh, make_coordinator, new_topic
from tests.handlers.test_classic_groups import stable
from tests.handlers.test_consumer_groups import join as join_consumers
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicState
from wirekafka.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from wirekafka.protocol.apis.offset_delete import (
    OffsetDeletePartition,
    OffsetDeleteRequest,
    OffsetDeleteTopic,
)
from wirekafka.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import RunningBroker, running_broker

commit_forms = pytest.mark.parametrize("version", range(2, 11))
fetch_forms = pytest.mark.parametrize("version", range(1, 11))
Topic = tuple[str, bytes]
Codes = dict[int, int]


@pytest.fixture(autouse=True)
def coordinator(raw: RawClient) -> None:
    make_coordinator(raw)


@pytest.fixture(scope="module")
def topic(broker: RunningBroker) -> Topic:
    """Two partitions; nothing changes it."""
    with RawClient(broker.bootstrap) as raw:
        return new_topic(raw, partitions=2)


def commit(
    raw: RawClient, version: int, group: str, *topics: tuple[Topic, tuple[int, ...]], **more: Any
) -> list[Codes]:
    """Commit offset 5 to each partition, as a consumer without a group; give the codes, topic by topic."""
    partition = {"committed_offset": 5, "committed_metadata": "m", **more.pop("partition", {})}
    asked = [
        OffsetCommitRequestTopic(
            name=name,
            topic_id=topic_id,
            partitions=[
                OffsetCommitRequestPartition(partition_index=index, **partition) for index in indexes
            ],
        )
        for (name, topic_id), indexes in topics
    ]
    answer = raw.ask(OffsetCommitRequest(group_id=group, topics=asked, **{"member_id": "", **more}), version)
    for one in answer.topics:
        assert (one.name == "") is (version >= 10)
    return [{p.partition_index: p.error_code for p in one.partitions} for one in answer.topics]


@commit_forms
def test_commit_of_a_consumer_without_a_group(raw: RawClient, topic: Topic, version: int) -> None:
    group = fresh("group")

    assert commit(raw, version, group, (topic, (0, 1))) == [{0: 0, 1: 0}]
    assert fetch(raw, 9, group, (topic, (0, 1))) == {0: (0, 5, "m"), 1: (0, 5, "m")}


@commit_forms
def test_null_metadata_is_empty(raw: RawClient, topic: Topic, version: int) -> None:
    group = fresh("group")

    commit(raw, version, group, (topic, (0,)), partition={"committed_metadata": None})

    assert fetch(raw, 9, group, (topic, (0,))) == {0: (0, 5, "")}


@commit_forms
def test_each_partition_has_its_own_answer(raw: RawClient, topic: Topic, version: int) -> None:
    """A topic without partitions has none."""
    unknown, none = ("nowhere", UNKNOWN_ID), ("other", UNKNOWN_ID)

    codes = commit(raw, version, fresh("group"), (unknown, (0,)), (none, ()), (topic, (0, 9, -1)))

    code = ErrorCode.UNKNOWN_TOPIC_ID if version >= 10 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == [{0: code}, {0: 0, 9: 3, -1: 3}]


@commit_forms
def test_metadata_has_its_limit(raw: RawClient, topic: Topic, version: int) -> None:
    """offset.metadata.max.bytes."""
    group = fresh("group")

    fits = commit(raw, version, group, (topic, (0,)), partition={"committed_metadata": "x" * 4096})
    large = commit(raw, version, group, (topic, (0,)), partition={"committed_metadata": "x" * 4097})

    assert (fits, large) == ([{0: 0}], [{0: ErrorCode.OFFSET_METADATA_TOO_LARGE}])


@commit_forms
@pytest.mark.parametrize(
    ("wrong", "before_v9", "since_v9"),
    [
        ({"group": ""}, ErrorCode.NONE, ErrorCode.NONE),
        ({"generation_id_or_member_epoch": 1, "member_id": "m"}, 22, 69),
        ({"generation_id_or_member_epoch": 1}, 22, 69),
        ({"member_id": "m"}, 0, 0),
    ],
    ids=["empty name", "generation of no group", "and no member", "member without a generation"],
)
def test_group_that_is_not_there(
    raw: RawClient, topic: Topic, version: int, wrong: dict[str, Any], before_v9: int, since_v9: int
) -> None:
    """KIP-848: ILLEGAL_GENERATION became GROUP_ID_NOT_FOUND."""
    member = {key: value for key, value in wrong.items() if key != "group"}

    codes = commit(raw, version, wrong.get("group", fresh("group")), (topic, (0,)), **member)

    assert codes == [{0: since_v9 if version >= 9 else before_v9}]


@commit_forms
def test_nothing_to_commit(raw: RawClient, version: int) -> None:
    assert commit(raw, version, fresh("group")) == []


def answer_of(raw: RawClient, version: int, group: str, topics: Any, **more: Any) -> tuple[int, Any]:
    """The group's error code and its topics, whatever the form."""
    if version < 8:
        asked = (
            topics
            if topics is None
            else [
                OffsetFetchRequestTopic(name=name, partition_indexes=list(indexes))
                for (name, _), indexes in topics
            ]
        )
        answer = raw.ask(OffsetFetchRequest(group_id=group, topics=asked, **more), version)
        return answer.error_code, answer.topics
    named = (
        topics
        if topics is None
        else [
            OffsetFetchRequestTopics(name=name, topic_id=topic_id, partition_indexes=list(indexes))
            for (name, topic_id), indexes in topics
        ]
    )
    wanted = OffsetFetchRequestGroup(group_id=group, topics=named)
    [found] = raw.ask(OffsetFetchRequest(groups=[wanted], **more), version).groups
    assert found.group_id == group
    return found.error_code, found.topics


def fetch(
    raw: RawClient, version: int, group: str, topic: tuple[Topic, tuple[int, ...]], **more: Any
) -> dict[int, tuple[int, int, str | None]]:
    """Error code, offset and metadata of each partition of one topic."""
    code, [found] = answer_of(raw, version, group, [topic], **more)
    assert code == 0
    assert (found.name == "") is (version >= 10)
    return {p.partition_index: (p.error_code, p.committed_offset, p.metadata) for p in found.partitions}


@pytest.fixture
def committed(raw: RawClient, topic: Topic) -> str:
    """A group that has committed partition 0."""
    group = fresh("group")
    commit(raw, 9, group, (topic, (0,)), partition={"committed_leader_epoch": 7})
    return group


@fetch_forms
def test_offsets_are_told_and_minus_one_where_there_is_none(
    raw: RawClient, topic: Topic, committed: str, version: int
) -> None:
    """An unknown partition or name is no error."""
    assert fetch(raw, version, committed, (topic, (0, 1, 9))) == {
        0: (0, 5, "m"),
        1: (0, -1, ""),
        9: (0, -1, ""),
    }


@fetch_forms
def test_leader_epoch_is_told_since_v5(raw: RawClient, topic: Topic, committed: str, version: int) -> None:
    """KIP-320."""
    _, [found] = answer_of(raw, version, committed, [(topic, (0,))])

    assert found.partitions[0].committed_leader_epoch == (7 if version >= 5 else -1)


@fetch_forms
def test_group_that_is_not_there_has_no_offsets(raw: RawClient, topic: Topic, version: int) -> None:
    for group in (fresh("nobody"), fresh("nobody")):
        assert fetch(raw, version, group, (topic, (0,))) == {0: (0, -1, "")}


@fetch_forms
def test_unknown_topic(raw: RawClient, committed: str, version: int) -> None:
    """By name it has no offsets; by id it is an error."""
    found = fetch(raw, version, committed, (("nowhere", UNKNOWN_ID), (0,)))

    assert found == {0: (ErrorCode.UNKNOWN_TOPIC_ID if version >= 10 else 0, -1, "")}


@pytest.mark.parametrize("version", range(2, 11))
def test_null_topics_are_all_that_were_committed(
    raw: RawClient, topic: Topic, committed: str, version: int
) -> None:
    code, [found] = answer_of(raw, version, committed, None)
    nobody = answer_of(raw, version, fresh("nobody"), None)

    assert code == 0
    if version >= 10:
        assert found.topic_id == topic[1]
    else:
        assert found.name == topic[0]
    assert [(p.partition_index, p.committed_offset) for p in found.partitions] == [(0, 5)]
    assert nobody == (0, [])


@pytest.mark.parametrize("version", [9, 10])
def test_all_offsets_are_those_of_topics_that_exist(raw: RawClient, version: int) -> None:
    """What was committed to a deleted topic went with it."""
    name, topic_id = new_topic(raw)
    group = fresh("group")
    commit(raw, 9, group, ((name, topic_id), (0,)))
    state = DeleteTopicState(name=name, topic_id=NO_ID)
    raw.ask(DeleteTopicsRequest(topics=[state], timeout_ms=1000), 6)

    assert answer_of(raw, version, group, None) == (0, [])


@pytest.mark.parametrize("version", [7, 8, 10])
def test_stable_offsets_are_the_same_without_transactions(
    raw: RawClient, topic: Topic, committed: str, version: int
) -> None:
    """KIP-447."""
    assert fetch(raw, version, committed, (topic, (0,)), require_stable=True) == {0: (0, 5, "m")}


@pytest.mark.parametrize("version", [8, 9, 10])
def test_many_groups_are_asked_at_once(raw: RawClient, committed: str, version: int) -> None:
    """KIP-709."""
    groups = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in (committed, "nobody")]

    answer = raw.ask(OffsetFetchRequest(groups=groups), version)

    assert [(one.group_id, one.error_code, len(one.topics)) for one in answer.groups] == [
        (committed, 0, 1),
        ("nobody", 0, 0),
    ]
    assert raw.ask(OffsetFetchRequest(groups=[]), version).groups == []


@fetch_forms
def test_without_an_offsets_topic_there_is_no_coordinator(version: int, topic: Topic) -> None:
    """v0 and v1 have no place for a group's error but in each partition."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        made = new_topic(raw)
        code, topics = answer_of(raw, version, "g", [(made, (0,))])

    if version == 1:
        assert [p.error_code for p in topics[0].partitions] == [ErrorCode.NOT_COORDINATOR]
    else:
        assert (code, topics) == (ErrorCode.NOT_COORDINATOR, [])


@pytest.mark.parametrize("version", [2, 6, 10])
def test_commit_without_an_offsets_topic(version: int) -> None:
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        made = new_topic(raw)

        assert commit(raw, version, "g", (made, (0,))) == [{0: ErrorCode.NOT_COORDINATOR}]


def test_zero_topic_id_is_an_unknown_one_where_topics_go_by_id(raw: RawClient, committed: str) -> None:
    """v10 and later: there is no name to fall back to."""
    nameless = ("", NO_ID)

    assert commit(raw, 10, fresh("g"), (nameless, (0,))) == [{0: ErrorCode.UNKNOWN_TOPIC_ID}]
    assert fetch(raw, 10, committed, (nameless, (0,))) == {0: (ErrorCode.UNKNOWN_TOPIC_ID, -1, "")}


def delete(raw: RawClient, group: str, *topics: tuple[str, tuple[int, ...]]) -> tuple[int, dict[str, Codes]]:
    """Delete what the group has committed; give the request's code, and those of partitions."""
    asked = [
        OffsetDeleteTopic(
            name=name, partitions=[OffsetDeletePartition(partition_index=index) for index in indexes]
        )
        for name, indexes in topics
    ]
    answer = raw.ask(OffsetDeleteRequest(group_id=group, topics=asked), 0)
    codes = {one.name: {p.partition_index: p.error_code for p in one.partitions} for one in answer.topics}
    return answer.error_code, codes


def test_offsets_are_deleted(raw: RawClient, topic: Topic) -> None:
    """KIP-496: also where there is none; not of partitions that do not exist."""
    group = fresh("group")
    commit(raw, 9, group, (topic, (0, 1)))

    gone = delete(raw, group, (topic[0], (0, 9)), ("nowhere", (0,)))

    assert gone == (0, {topic[0]: {0: 0, 9: 3}, "nowhere": {0: 3}})
    assert fetch(raw, 9, group, (topic, (0, 1))) == {0: (0, -1, ""), 1: (0, 5, "m")}
    assert delete(raw, group, (topic[0], (0,))) == (0, {topic[0]: {0: 0}})
    assert delete(raw, group) == delete(raw, group, (topic[0], ())) == (0, {})


def test_offsets_in_use_are_not_deleted(raw: RawClient, topic: Topic) -> None:
    """By consumers whose subscription cannot be read: they are taken to read every topic."""
    group, _ = stable(raw)

    assert delete(raw, group, (topic[0], (0,))) == (
        0,
        {topic[0]: {0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}},
    )


def test_group_without_a_name_or_without_being_there_has_no_offsets_to_delete(
    raw: RawClient, topic: Topic
) -> None:
    assert delete(raw, "", (topic[0], (0,))) == (ErrorCode.INVALID_GROUP_ID, {})
    assert delete(raw, fresh("nobody"), (topic[0], (0,))) == (ErrorCode.GROUP_ID_NOT_FOUND, {})


def test_no_offsets_are_deleted_without_an_offsets_topic() -> None:
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        assert delete(raw, "g") == (ErrorCode.NOT_COORDINATOR, {})


@pytest.fixture
def consumer(raw: RawClient, topic: Topic) -> tuple[str, str, int]:
    """A group of the consumer protocol with one member, which reads the topic: group, member id, epoch."""
    group = fresh("group")
    answer = join_consumers(raw, 1, group, "m", topic[0])
    return group, answer.member_id, answer.member_epoch


@commit_forms
def test_commit_of_a_consumer_goes_by_its_epoch(
    raw: RawClient, topic: Topic, consumer: tuple[str, str, int], version: int
) -> None:
    """KIP-848: in the versions that know member epochs."""
    group, member, epoch = consumer

    def code(member_id: str, member_epoch: int) -> int:
        named = {"member_id": member_id, "generation_id_or_member_epoch": member_epoch}
        [codes] = commit(raw, version, group, (topic, (0,)), **named)
        return codes[0]

    assert code(member, epoch) == (0 if version >= 9 else ErrorCode.UNSUPPORTED_VERSION)
    assert code(member, epoch + 1) == (
        ErrorCode.STALE_MEMBER_EPOCH if version >= 9 else ErrorCode.UNSUPPORTED_VERSION
    )
    assert code("other", epoch) == ErrorCode.UNKNOWN_MEMBER_ID
    assert code("", -1) == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", [9, 10])
def test_fetch_of_a_consumer_goes_by_its_epoch(
    raw: RawClient, topic: Topic, consumer: tuple[str, str, int], version: int
) -> None:
    """KIP-848: an error is that of the whole group, and who names nobody is asked for nothing."""
    group, member, epoch = consumer
    commit(raw, 9, group, (topic, (0,)), member_id=member, generation_id_or_member_epoch=epoch)
    askers = [(member, epoch), (None, -1), (member, epoch + 1), ("other", epoch)]
    asked = [
        OffsetFetchRequestGroup(group_id=group, member_id=who, member_epoch=when, topics=None)
        for who, when in askers
    ]

    answer = raw.ask(OffsetFetchRequest(groups=asked), version)

    assert [(one.error_code, len(one.topics)) for one in answer.groups] == [
        (0, 1),
        (0, 1),
        (ErrorCode.STALE_MEMBER_EPOCH, 0),
        (ErrorCode.UNKNOWN_MEMBER_ID, 0),
    ]


def test_offsets_that_a_consumer_reads_are_not_deleted(
    raw: RawClient, topic: Topic, consumer: tuple[str, str, int]
) -> None:
    group, _, _ = consumer

    assert delete(raw, group, (topic[0], (0,)))[1] == {topic[0]: {0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC}}
