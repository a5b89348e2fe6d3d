"""Character classes in brackets, such as `[a-z[:digit:]]`.

Called by `parsing` where a bracket opens.

Source: RE2's syntax, with the refusals of RE2/J 1.8.
"""

from wirekafka.groups.consumer.patterns.characters import (
    NONE,
    POSIX,
    Characters,
    between,
    in_any_case,
)
from wirekafka.groups.consumer.patterns.reading import Reader
from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS, Invalid


def read_class(reader: Reader) -> Characters:
    """Read a class from its opening to its closing bracket. A closing bracket that comes first is meant."""
    start = reader.position
    reader.position += 1
    negated = reader.skip("^")
    characters = NONE
    is_first = True
    while is_first or not reader.sees("]"):
        is_first = False
        characters |= _item(reader, start)
    reader.position += 1
    return TOPIC_CHARACTERS - characters if negated else characters


def _item(reader: Reader, start: int) -> Characters:
    posix = _posix_class(reader)
    if posix is not None:
        return posix
    named = reader.named_class()
    if named is not None:
        return named
    return _range(reader, start)


def _posix_class(reader: Reader) -> Characters | None:
    end = reader.text.find(":]", reader.position + 2) if reader.sees("[:") else -1
    if end < 0:
        return None
    start = reader.position
    name = reader.text[start + 2 : end]
    reader.position = end + 2
    characters = POSIX.get(name.removeprefix("^"))
    if characters is None:
        raise Invalid(f"invalid character class range: {reader.since(start)}")
    if reader.ignore_case:
        characters = in_any_case(characters)
    return TOPIC_CHARACTERS - characters if name.startswith("^") else characters


def _range(reader: Reader, start: int) -> Characters:
    first = reader.position
    low = high = _character(reader, start)
    if reader.sees("-") and not reader.sees("-]"):
        reader.position += 1
        high = _character(reader, start)
    if high < low:
        raise Invalid(f"invalid character class range: {reader.since(first)}")
    return between(low, high, ignore_case=reader.ignore_case)


def _character(reader: Reader, start: int) -> int:
    if not reader.rest:
        raise Invalid(f"missing closing ]: {reader.since(start)}")
    if reader.sees("\\"):
        return reader.escaped()
    return ord(reader.take())
