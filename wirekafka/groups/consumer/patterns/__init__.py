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
from functools import lru_cache
from typing import TYPE_CHECKING

from wirekafka.protocol.error_codes import ErrorCode, KafkaError

if TYPE_CHECKING:
    from wirekafka.groups.consumer.patterns.automaton import Automaton

__all__ = ["check", "matching"]

_KEPT = 64


def check(pattern: str) -> None:
    """Raise INVALID_REGULAR_EXPRESSION if this is not one of RE2's, or is larger than any list of topics."""
    _compiled(pattern)


def matching(patterns: Iterable[str], names: Iterable[str]) -> dict[str, set[str]]:
    """Give for each pattern the names which it matches from beginning to end.

    One that is not valid matches nothing: `check` refused it, unless the log has it from a broker with
    another notion of what is valid.
    """
    names = list(names)
    return {pattern: _matching(pattern, names) for pattern in patterns}


def _matching(pattern: str, names: list[str]) -> set[str]:
    try:
        automaton = _compiled(pattern)
    except KafkaError:
        return set()
    return {name for name in names if automaton.matches(name)}


@lru_cache(maxsize=_KEPT)
def _compiled(pattern: str) -> "Automaton":
    # The first pattern loads these, not every start of a broker.
    from wirekafka.groups.consumer.patterns.automaton import Automaton
    from wirekafka.groups.consumer.patterns.parsing import parse
    from wirekafka.groups.consumer.patterns.tree import Invalid

    try:
        return Automaton(parse(pattern))
    except Invalid as reason:
        text = f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {reason}."
        raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, text) from None
