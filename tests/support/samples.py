"""A full sample of any message, and the same once for each array with a hostile count; both from the
construct tree, so no message is forgotten."""

from collections.abc import Iterator
from typing import Any

import construct

from wirekafka.protocol.message import Message
from wirekafka.protocol.nodes import TAGGED, ArrayOf, Count, Instance, NullableStruct, Sized, TaggedFields

HOSTILE_COUNT = 2**31 - 1


def sample(cls: type[Message], version: int) -> Any:
    """A message with every field there: one element in each array, short texts, small numbers."""
    return _value(cls.instance(version))


def with_hostile_counts(cls: type[Message], version: int) -> Iterator[bytes]:
    """The sample once for each of its arrays, which announces 2^31-1 elements."""
    instance = cls.instance(version)
    message = _value(instance)
    for node in list(_below(instance)):
        if isinstance(node, ArrayOf):
            honest, node.count = node.count, _HostileCount(node.count.compact)
            yield instance.build(message)
            node.count = honest


class _HostileCount(Count):
    def write(self, n: int, stream: Any, path: str) -> None:
        super().write(HOSTILE_COUNT, stream, path)


def _value(node: construct.Construct) -> Any:
    if isinstance(node, Instance):
        return node.cls(**dict(_fields(node)))
    if isinstance(node, NullableStruct):
        return _value(node.inner)
    if isinstance(node, ArrayOf):
        return [_value(node.element)]
    if isinstance(node, Sized):
        return "sample" if node.payload == "text" else b"sample"
    if node is construct.Flag:
        return True
    return b"i" * node.length if isinstance(node, construct.Bytes) else 1


def _fields(node: Instance) -> Iterator[tuple[str, Any]]:
    for field in node.subcon.subcons:
        if field.name == TAGGED:
            yield from ((tagged.name, _value(tagged.subcon)) for tagged in field.subcon.fields)
        else:
            yield field.name, _value(field.subcon)


def _below(node: construct.Construct) -> Iterator[construct.Construct]:
    yield node
    match node:
        case Instance():
            parts = list(node.subcon.subcons)
        case ArrayOf():
            parts = [node.element]
        case NullableStruct():
            parts = [node.inner]
        case TaggedFields():
            parts = [tagged.subcon for tagged in node.fields]
        case construct.Renamed():
            parts = [node.subcon]
        case _:
            parts = []
    for part in parts:
        yield from _below(part)
