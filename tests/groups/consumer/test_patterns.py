"""groups/consumer/patterns: which topics a regular expression stands for.

What is refused and what matches was compared with RE2/J 1.8, which Kafka uses.
"""

import subprocess
import sys
from contextlib import suppress
from types import FrameType

import pytest

from wirekafka.groups.consumer.patterns import check, matching
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def test_an_expression_has_to_match_the_whole_name() -> None:
    """Matcher.matches, not find: KIP-848."""
    names = ["order", "orders", "reorder"]

    assert matching("order", names).names == {"order"}
    assert matching("order.*", names).names == {"order", "orders"}


def test_internal_topics_match_as_any_other() -> None:
    """Kafka's broker makes no difference; its classic consumer leaves them out by itself."""
    assert matching(".*", ["__consumer_offsets", "orders"]).names == {"__consumer_offsets", "orders"}


def test_what_is_not_valid_is_refused_with_the_reason() -> None:
    """Error 128, with a sentence that names the expression and what is wrong with it."""
    with pytest.raises(KafkaError) as refusal:
        check("orders-(eu|us")

    assert refusal.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert (
        refusal.value.message
        == "SubscribedTopicRegex `orders-(eu|us` is not a valid regular expression: missing closing )."
    )


def test_what_is_valid_passes() -> None:
    """Nothing is raised."""
    check("orders-(eu|us)")


def test_a_refusal_does_not_repeat_all_of_a_long_expression() -> None:
    """It goes to the client, and into the broker's log."""
    with pytest.raises(KafkaError) as refusal:
        check("a{" + "9" * 5_000 + "}")

    assert len(refusal.value.message) < 600


def test_an_expression_that_explodes_with_backtracking_takes_no_time() -> None:
    """Python's re would take more than the age of the universe for this name."""
    name = "a" * 248 + "b"

    assert matching("(a*)*c|(a|aa)+c", [name]).names == set()


MANY_NAMES = [f"orders-{number:03d}-{'abcdefghijklm' * 3}{number % 7}" for number in range(300)]
HOSTILE = [
    "(?:(?:(?:){250}){250}){250}",
    "(?:(?:(?:(?:){250}){250}){250}){250}",
    "((((a{0}){250}){250}){250}){250}",
    "(?:(?:(?:\\b*){250}){250}){250}",
    "(?:.*a.{250}){38}.*",
    "(?:.?){250}" * 19,
    "(?:[^a]?[^b]?[^c]?[^d]?[^e]?[^f]?[^g]?[^h]?){140}" * 4,
    "(?:[^a]?[^b]?[^c]?[^d]?[^e]?[^f]?[^g]?[^h]?){240}" * 4,
    "(?:^|$|\\b|\\B|.|)*" * 500,
    "(?:(?:a*)*)*" * 800,
    ".?" * 5_000,
    ".*" * 5_000,
    "a" * 1_000_000,
    "[" * 1_000_000,
    "(" * 1_000_000,
    "[[:" * 3_000,
    "a{" + "9" * 5_000 + "}",
    "|".join(f".*{letter}.*" for letter in "abcdefghijklm" * 100),
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=range(len(HOSTILE)))
def test_no_expression_keeps_the_broker_busy(pattern: str) -> None:
    """It is refused or answered in no more calls than a tenth of a second takes."""
    with Calls(at_most=1_000_000), suppress(KafkaError):
        matching(pattern, MANY_NAMES)


def test_usual_expressions_take_a_few_calls_a_name() -> None:
    """Nothing is worked out for a name that is like those before it."""
    names = [f"orders-{number:05d}" for number in range(10_000)]

    for pattern in ("orders-.*", ".*-00[0-9]+", "(orders|payments)-[0-9]+", "^.*$"):
        with Calls(at_most=90_000):
            assert matching(pattern, names).names


class Calls:
    """Fails when more functions are called inside of it than may be."""

    def __init__(self, at_most: int) -> None:
        self._left = at_most

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        sys.setprofile(self._count)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _count(self, frame: FrameType, event: str, argument: object) -> None:
        self._left -= event.endswith("call")
        assert self._left > 0, "this does not come to an end"


def test_nothing_of_it_is_loaded_before_there_is_an_expression() -> None:
    """A start of a broker does not pay for it."""
    listing = (
        "import sys, wirekafka.groups.consumer.patterns as p; "
        "print([name for name in sys.modules if name.startswith(p.__name__ + '.')])"
    )

    loaded = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    ).stdout

    assert loaded.strip() == "[]"
