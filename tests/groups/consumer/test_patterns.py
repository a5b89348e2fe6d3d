"""groups/consumer/patterns: which topics a regular expression stands for.

What is refused and what matches was compared with RE2/J 1.8, which Kafka uses.
"""

import subprocess
import sys

import pytest

from wirekafka.groups.consumer.patterns import check, matching
from wirekafka.protocol.error_codes import ErrorCode, KafkaError


def test_an_expression_has_to_match_the_whole_name() -> None:
    """Matcher.matches, not find: KIP-848."""
    assert matching(["order", "order.*"], ["order", "orders", "reorder"]) == {
        "order": {"order"},
        "order.*": {"order", "orders"},
    }


def test_internal_topics_match_as_any_other() -> None:
    """Kafka's broker makes no difference; its classic consumer leaves them out by itself."""
    assert matching([".*"], ["__consumer_offsets", "orders"])[".*"] == {"__consumer_offsets", "orders"}


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


def test_what_is_not_valid_matches_nothing() -> None:
    """A log may have what this broker refuses."""
    assert matching(["("], ["orders"]) == {"(": set()}


def test_an_expression_that_explodes_with_backtracking_takes_no_time() -> None:
    """Python's re would take more than the age of the universe for this name."""
    name = "a" * 248 + "b"

    assert matching(["(a*)*c|(a|aa)+c"], [name]) == {"(a*)*c|(a|aa)+c": set()}


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
