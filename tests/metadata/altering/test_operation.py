"""What an operation makes of a value."""

import pytest

from tests.metadata.support import APPEND, DELETE, SET, SUBTRACT
from wirekafka.metadata.altering import Alteration, Operation
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


@pytest.mark.parametrize(
    ("operation", "value", "present", "result"),
    [
        (SET, "b", "a", "b"),
        (SET, "", "a", ""),
        (DELETE, None, "a", None),
        (DELETE, "whatever", "a", None),
        (DELETE, None, None, None),
        (APPEND, "c", "a,b", "a,b,c"),
        (APPEND, "b,c", "a,b", "a,b,c"),
        (APPEND, "c", None, "d,c"),
        (APPEND, "c", "", "c"),
        (APPEND, "", "a", "a,"),
        (APPEND, ",", "a", "a"),
        (APPEND, "c,,", "a", "a,c"),
        (APPEND, "c,,e", "a", "a,c,,e"),
        (SUBTRACT, "a", "a,b", "b"),
        (SUBTRACT, "a,b", "a,b", ""),
        (SUBTRACT, "c", "a,b", "a,b"),
        (SUBTRACT, "d", None, ""),
        (SUBTRACT, "c", None, "d"),
        (SUBTRACT, "a", "a,b,a", "b,a"),
    ],
)
def test_operation_gives_the_value_that_kafka_gives(
    operation: int, value: str | None, present: str | None, result: str | None
) -> None:
    """ConfigurationControlManager: lists are cut as Java cuts them, and begin as Kafka's default."""
    assert Operation("name", value, operation).result(present, "d") == result


def test_list_without_a_default_begins_empty() -> None:
    """Such as log.dirs."""
    assert Operation("name", "a", APPEND).result(None, None) == "a"


@pytest.mark.parametrize(
    "operations",
    [
        (Operation("a", "1"), Operation("a", "1")),
        (Operation("a", "1"), Operation("a", None, DELETE)),
        (Operation("a", None),),
        (Operation("a", None, APPEND),),
    ],
)
def test_form_that_means_nothing_is_refused(operations: tuple[Operation, ...]) -> None:
    """ConfigAdminManager.preprocess: a name twice, or null for what is no deletion."""
    with pytest.raises(KafkaError) as caught:
        Alteration(2, "t", operations).check_form()

    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_deletion_needs_no_value() -> None:
    """Null is what clients send."""
    Alteration(2, "t", (Operation("a", None, DELETE), Operation("b", "1"))).check_form()


@pytest.mark.parametrize("operation", [-1, 4, 127])
def test_operation_that_nobody_knows_is_refused(operation: int) -> None:
    """There are four."""
    with pytest.raises(KafkaError, match=f"Unknown operations type {operation}"):
        Alteration(2, "t", (Operation("a", "1", operation),)).check_operation_types()


def test_only_a_replacement_deletes_what_it_does_not_name() -> None:
    """AlterConfigs is the whole truth about a resource, IncrementalAlterConfigs is not."""
    operations = (Operation("a", "1"),)

    assert Alteration(2, "t", operations, replaces=True).deleted({"a": "0", "b": "0"}) == ["b"]
    assert Alteration(2, "t", operations).deleted({"a": "0", "b": "0"}) == []


def test_operation_knows_whether_it_is_of_a_list() -> None:
    """Only these need a setting that is a list."""
    assert [Operation("a", "1", operation).of_list for operation in range(5)] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_known_operations_are_let_through() -> None:
    """All four."""
    alteration = Alteration(2, "t", tuple(Operation("a", "1", operation) for operation in range(4)))

    alteration.check_operation_types()
    assert alteration.resource == (2, "t")
