"""Regular expressions of the syntax RE2, which say what topics a member subscribes to.

Asked by `groups.consumer.regexes`. The broker matches them, so they must not be able to stop it: RE2 leaves
out what needs backtracking, and matching takes time in proportion to a name's length. There is a binding of
RE2 on PyPI, but not for every platform that Python runs on (none of musl's, such as Alpine); and of RE2 a
broker needs little: whole names of at most 249 characters out of 65, and only whether they match. That is
what is here: `parsing` reads an expression as RE2/J does, `automaton` runs it.

Source: KIP-848; Kafka's TopicRegexResolver and Utils.throwIfRegularExpressionIsInvalid, and the syntax page
of RE2.
"""

from collections.abc import Iterable
from typing import NamedTuple

from wirekafka.protocol.error_codes import ErrorCode, KafkaError

__all__ = ["Matching", "check", "matching"]

_MOST_SHOWN = 200


class Matching(NamedTuple):
    """What one regular expression matches."""

    names: frozenset[str]
    work: int
    """What it took to find that; a unit is less than half a microsecond."""


def check(pattern: str) -> None:
    """Raise INVALID_REGULAR_EXPRESSION if this is not one of RE2's, or is larger than any list of topics."""
    matching(pattern, ())


def matching(pattern: str, names: Iterable[str]) -> Matching:
    """Find the names which it matches from beginning to end.

    Raises INVALID_REGULAR_EXPRESSION as `check` does, and also if it would take too much work.
    """
    # The first pattern loads these, not every start of a broker.
    from wirekafka.groups.consumer.patterns.compiled import COMPILED
    from wirekafka.groups.consumer.patterns.tree import Invalid

    try:
        found = Matching(*COMPILED.of(pattern).matching(names))
    except Invalid as reason:
        raise _refusal(pattern, reason) from None
    COMPILED.used(pattern)
    return found


def _refusal(pattern: str, reason: Exception) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{_shown(pattern)}` is not a valid regular expression: {_shown(str(reason))}.",
    )


def _shown(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
