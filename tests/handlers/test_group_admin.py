"""FindCoordinator and the listing, describing and deleting of groups over TCP, held against Kafka 4.4."""

from typing import Any

import pytest

from tests.handlers.support import AS_BROKER_SENDS_NO_OPERATIONS, fresh, make_coordinator, new_topic
from tests.handlers.test_classic_groups import join_fully, leave, stable
from tests.handlers.test_consumer_groups import beat
from tests.handlers.test_consumer_groups import join as join_consumers
from tests.handlers.test_group_offsets import commit
from tests.support.raw_client import RawClient
from wirekafka.protocol.apis.delete_groups import DeleteGroupsRequest
from wirekafka.protocol.apis.describe_groups import DescribeGroupsRequest
from wirekafka.protocol.apis.find_coordinator import FindCoordinatorRequest
from wirekafka.protocol.apis.list_groups import ListGroupsRequest
from wirekafka.protocol.apis.metadata import MetadataRequest
from wirekafka.protocol.error_codes import ErrorCode
from wirekafka.testing import RunningBroker, running_broker

GROUP, TRANSACTION, SHARE = 0, 1, 2
GROUP_OPERATIONS = 0x0D48
"""Read, delete, describe, describe configs, alter configs: bits 3, 6, 8, 10, 11."""
one_key = pytest.mark.parametrize("version", range(4))
many_keys = pytest.mark.parametrize("version", range(4, 7))
describe_forms = pytest.mark.parametrize("version", range(7))


@one_key
def test_this_broker_coordinates_every_group(raw: RawClient, broker: RunningBroker, version: int) -> None:
    answer = raw.ask(FindCoordinatorRequest(key="g"), version)

    assert (answer.error_code, answer.node_id, answer.host, answer.port) == (0, 1, broker.host, broker.port)
    assert answer.error_message == ("" if version < 1 else "NONE")


@many_keys
def test_many_groups_are_found_at_once(raw: RawClient, broker: RunningBroker, version: int) -> None:
    """KIP-699: also the same twice, and one without a name."""
    answer = raw.ask(FindCoordinatorRequest(coordinator_keys=["a", "b", "a", ""]), version)

    assert [one.key for one in answer.coordinators] == ["a", "b", "a", ""]
    for one in answer.coordinators:
        assert (one.error_code, one.node_id, one.host, one.port) == (0, 1, broker.host, broker.port)
        assert one.error_message == ""
    assert raw.ask(FindCoordinatorRequest(coordinator_keys=[]), version).coordinators == []


@pytest.mark.parametrize("version", range(1, 7))
@pytest.mark.parametrize("kind", [TRANSACTION, SHARE, 3, -1])
def test_other_coordinators_are_refused(raw: RawClient, version: int, kind: int) -> None:
    """Transactions and share groups are not served yet; the answer says so."""
    answer = raw.ask(FindCoordinatorRequest(key="k", coordinator_keys=["k"], key_type=kind), version)

    [one] = answer.coordinators if version >= 4 else [answer]
    assert (one.error_code, one.node_id, one.host, one.port) == (ErrorCode.INVALID_REQUEST, -1, "", -1)
    assert one.error_message


def test_transactional_producers_are_told_in_their_own_terms(raw: RawClient) -> None:
    answer = raw.ask(FindCoordinatorRequest(key="tx", key_type=TRANSACTION), 2)

    assert "transactional.id" in answer.error_message


@pytest.mark.parametrize("version", [0, 3, 4, 6])
def test_first_answer_has_the_coordinator(version: int) -> None:
    """Unlike Kafka, where clients ask until the offsets topic is made."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        answer = raw.ask(FindCoordinatorRequest(key="g", coordinator_keys=["g"]), version)
        topics = raw.ask(MetadataRequest(topics=None), 9).topics

    [one] = answer.coordinators if version >= 4 else [answer]
    assert (one.error_code, [topic.name for topic in topics]) == (0, ["__consumer_offsets"])


@pytest.fixture(scope="module")
def listed_broker() -> Any:
    """A broker with three groups: empty, stable, and of a consumer without a group."""
    with running_broker() as running, RawClient(running.bootstrap) as raw:
        make_coordinator(raw)
        topic = new_topic(raw)
        group, member = stable(raw)
        left, gone = stable(raw)
        leave(raw, 5, left, gone)
        simple = fresh("simple")
        commit(raw, 9, simple, (topic, (0,)))
        yield running, {"stable": group, "left": left, "simple": simple, "member": member}


def listed(named: Any, version: int, **filters: Any) -> dict[str, tuple[str, str, str]]:
    """State, type and protocol type of each group, by its short name."""
    running, names = named
    short = {name: key for key, name in names.items()}
    with RawClient(running.bootstrap) as raw:
        answer = raw.ask(ListGroupsRequest(**filters), version)
    assert answer.error_code == 0
    return {
        short[one.group_id]: (one.group_state, one.group_type, one.protocol_type) for one in answer.groups
    }


@pytest.mark.parametrize("version", range(6))
def test_groups_are_listed(listed_broker: Any, version: int) -> None:
    """With their state from v4 on, their type from v5 on."""

    def told(state: str, protocol_type: str) -> tuple[str, str, str]:
        return (state if version >= 4 else "", "classic" if version >= 5 else "", protocol_type)

    assert listed(listed_broker, version) == {
        "stable": told("Stable", "consumer"),
        "left": told("Empty", "consumer"),
        "simple": told("Empty", ""),
    }


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize(
    ("states", "found"),
    [
        (["Empty"], {"left", "simple"}),
        (["stable"], {"stable"}),
        (["Stable", "Empty"], {"stable", "left", "simple"}),
        (["Dead"], set()),
        (["unheard-of"], set()),
    ],
)
def test_groups_are_listed_by_state(
    listed_broker: Any, version: int, states: list[str], found: set[str]
) -> None:
    """KIP-518; upper or lower case."""
    assert set(listed(listed_broker, version, states_filter=states)) == found


@pytest.mark.parametrize(
    ("types", "found"),
    [(["classic"], 3), (["Classic"], 3), (["consumer"], 0), (["share"], 0), (["unheard-of"], 0)],
)
def test_groups_are_listed_by_type(listed_broker: Any, types: list[str], found: int) -> None:
    """KIP-848."""
    assert len(listed(listed_broker, 5, types_filter=types)) == found


@describe_forms
def test_stable_group_is_described(listed_broker: Any, version: int) -> None:
    running, names = listed_broker
    with RawClient(running.bootstrap) as raw:
        [group] = raw.ask(DescribeGroupsRequest(groups=[names["stable"]]), version).groups

    assert (group.error_code, group.error_message) == (0, None)
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    [member] = group.members
    assert (member.member_id, member.client_id, member.client_host) == (names["member"], "raw", "/127.0.0.1")
    assert (member.member_metadata, member.member_assignment) == (b"metadata", b"assignment")
    assert (member.group_instance_id, group.authorized_operations) == (None, AS_BROKER_SENDS_NO_OPERATIONS)


@pytest.mark.parametrize("version", range(3, 7))
def test_operations_are_told_on_request(listed_broker: Any, version: int) -> None:
    """KIP-430; not of a group that is not there."""
    running, names = listed_broker
    request = DescribeGroupsRequest(groups=[names["left"], "nobody"], include_authorized_operations=True)
    with RawClient(running.bootstrap) as raw:
        there, not_there = raw.ask(request, version).groups

    assert there.authorized_operations == GROUP_OPERATIONS
    expected = AS_BROKER_SENDS_NO_OPERATIONS if version >= 6 else GROUP_OPERATIONS
    assert not_there.authorized_operations == expected


@describe_forms
def test_unknown_group_is_dead_and_since_v6_an_error(raw: RawClient, version: int) -> None:
    """KIP-1043."""
    make_coordinator(raw)

    [group] = raw.ask(DescribeGroupsRequest(groups=["nobody"]), version).groups

    assert (group.group_id, group.group_state, group.members) == ("nobody", "Dead", [])
    assert group.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else 0)
    assert bool(group.error_message) is (version >= 6)


@describe_forms
def test_groups_are_described_in_the_order_asked(raw: RawClient, version: int) -> None:
    make_coordinator(raw)
    group = fresh("group")
    join_fully(raw, 5, group)

    answers = raw.ask(DescribeGroupsRequest(groups=[group, "nobody", group]), version).groups

    assert [one.group_id for one in answers] == [group, "nobody", group]
    assert raw.ask(DescribeGroupsRequest(groups=[]), version).groups == []


@pytest.mark.parametrize("version", [0, 5, 6])
def test_without_an_offsets_topic_there_are_no_groups(version: int) -> None:
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        [group] = raw.ask(DescribeGroupsRequest(groups=["g"]), version).groups
        listing = raw.ask(ListGroupsRequest(), 5)

    assert (group.group_id, group.error_code) == ("g", ErrorCode.NOT_COORDINATOR)
    assert (listing.error_code, listing.groups) == (0, [])


delete_forms = pytest.mark.parametrize("version", range(4))


@delete_forms
def test_groups_without_members_are_deleted(raw: RawClient, version: int) -> None:
    """KIP-229: each has its own code, and since v3 a message (KIP-1331); a name counts once."""
    make_coordinator(raw)
    topic = new_topic(raw)
    used, _ = stable(raw)
    left, member = stable(raw)
    leave(raw, 5, left, member)
    simple = fresh("simple")
    commit(raw, 9, simple, (topic, (0,)))

    names = [left, used, "nobody", simple, left]
    results = raw.ask(DeleteGroupsRequest(groups_names=names), version).results

    assert [(one.group_id, one.error_code) for one in results] == [
        (left, 0),
        (used, ErrorCode.NON_EMPTY_GROUP),
        ("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
        (simple, 0),
    ]
    assert [bool(one.error_message) for one in results] == [
        version >= 3 and bool(one.error_code) for one in results
    ]
    listing = {one.group_id for one in raw.ask(ListGroupsRequest(), 5).groups}
    assert listing & {left, used, simple} == {used}


@delete_forms
def test_no_groups_to_delete(raw: RawClient, version: int) -> None:
    assert raw.ask(DeleteGroupsRequest(groups_names=[]), version).results == []


@delete_forms
def test_nothing_is_deleted_without_an_offsets_topic(version: int) -> None:
    """Kafka's answer too."""
    with running_broker() as broker, RawClient(broker.bootstrap) as raw:
        [one] = raw.ask(DeleteGroupsRequest(groups_names=["g"]), version).results

    assert (one.group_id, one.error_code) == ("g", ErrorCode.NOT_COORDINATOR)


def test_consumer_group_is_listed_and_deleted_but_not_described_as_a_classic_one(raw: RawClient) -> None:
    """KIP-848."""
    make_coordinator(raw)
    group = fresh("group")
    epoch = join_consumers(raw, 1, group, "m", new_topic(raw)[0]).member_epoch
    listing = raw.ask(ListGroupsRequest(types_filter=["consumer"]), 5).groups
    [described] = raw.ask(DescribeGroupsRequest(groups=[group]), 6).groups
    [in_use] = raw.ask(DeleteGroupsRequest(groups_names=[group]), 2).results
    beat(raw, 1, group, "m", -1)
    [deleted] = raw.ask(DeleteGroupsRequest(groups_names=[group]), 2).results

    assert epoch > 0
    assert [(one.group_state, one.protocol_type) for one in listing if one.group_id == group] == [
        ("Stable", "consumer")
    ]
    assert (described.error_code, described.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert "not a classic group" in described.error_message
    assert (in_use.error_code, deleted.error_code) == (ErrorCode.NON_EMPTY_GROUP, 0)
    assert group not in {one.group_id for one in raw.ask(ListGroupsRequest(), 5).groups}
