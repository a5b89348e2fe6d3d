"""The compiled codec against its slow twin, for every message class at every version.

Random messages come from the construct tree of a version, seeded by its name, so a failure repeats.
What bytes must be refused is found in the same tree: every length and count in it is replaced by
values that no honest peer sends.
"""

import random
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import construct
import pytest

from tests.support.memory import least_peak_bytes
from wirekafka.protocol.codec import Codec, codec_for
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.message import Message
from wirekafka.protocol.names import MESSAGES
from wirekafka.protocol.nodes import (
    TAGGED,
    UVARINT,
    ArrayOf,
    Count,
    Instance,
    NullableStruct,
    Sized,
    TaggedFields,
)

CASES = [
    pytest.param(cls, version, id=f"{name}-{version}")
    for name, cls in MESSAGES.items()
    for version in cls.versions.as_range()
]
every_message = pytest.mark.parametrize(("cls", "version"), CASES)

ROUNDS = 6
MUTATIONS = 12
PEAK_BYTES = 64 * 1024
"""What refusing a hostile count may take: error objects, never room for what was announced."""

SHORT_TEXTS = ["", "a", "topic-1", "ünïcødé-토픽"]
BORDER_TEXTS = [*SHORT_TEXTS, "x" * 126, "y" * 127, "z" * 300]
UTF8_MARK = "é"


class Values:
    """Makes values for nodes of the tree; subclasses say what is chosen."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def of(self, node: construct.Construct, depth: int = 0) -> Any:
        if isinstance(node, Instance):
            return self.message(node, depth)
        if isinstance(node, NullableStruct):
            return None if self.null() else self.message(node.inner, depth)
        if isinstance(node, ArrayOf):
            if node.nullable and self.null():
                return None
            return [self.of(node.element, depth + 1) for _ in range(self.count(node.element, depth))]
        if isinstance(node, Sized):
            if node.nullable and self.null():
                return None
            return self.text() if node.payload == "text" else self.raw()
        return self.fixed(node)

    def message(self, node: Instance, depth: int) -> Any:
        values = {}
        for field in node.subcon.subcons:
            if field.name != TAGGED:
                values[field.name] = self.of(field.subcon, depth)
                continue
            for tagged in field.subcon.fields:
                if self.tagged():
                    values[tagged.name] = self.of(tagged.subcon, depth)
        return node.cls(**values)

    def fixed(self, node: construct.Construct) -> Any:
        if node is construct.Flag:
            return self.random.random() < 0.5
        if isinstance(node, construct.Bytes):
            return self.random.randbytes(node.length)
        if node is construct.Float64b:
            return self.random.choice([0.0, 1.5, -2.25e10])
        bits, signed = 8 * node.length, node.fmtstr[1].islower()
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self.random.choice([low, high, 0, 1, self.random.randint(low, high)])

    def null(self) -> bool:
        return self.random.random() < 0.25

    def tagged(self) -> bool:
        return self.random.random() < 0.6

    def count(self, element: construct.Construct, depth: int) -> int:
        return self.random.choice([0, 1, 2, 3] if depth < 2 else [0, 1])

    def text(self) -> str:
        return self.random.choice(BORDER_TEXTS)

    def raw(self) -> bytes:
        return self.random.randbytes(self.random.choice([0, 1, 126, 127, 128]))


class ManyNumbers(Values):
    """Arrays beyond one varint byte, which also have no ready-made struct method."""

    def count(self, element: construct.Construct, depth: int) -> int:
        if isinstance(element, construct.FormatField):
            return self.random.choice([15, 16, 127, 130])
        return 1


class Full(Values):
    """Every field there and not at its default, and small: each length in the tree is written."""

    def null(self) -> bool:
        return False

    def tagged(self) -> bool:
        return True

    def count(self, element: construct.Construct, depth: int) -> int:
        return 2 if depth == 0 else 1

    def text(self) -> str:
        return f"t{UTF8_MARK}"

    def raw(self) -> bytes:
        return b"raw"

    def fixed(self, node: construct.Construct) -> Any:
        if node is construct.Flag:
            return True
        return b"i" * node.length if isinstance(node, construct.Bytes) else 7


class UnknownTags(construct.Construct):  # type: ignore[misc]
    """A tagged section with two fields more, as a newer peer may send."""

    def __init__(self, known: TaggedFields) -> None:
        super().__init__()
        self.known = known

    def _build(self, obj: Any, stream: Any, context: Any, path: str) -> Any:
        known = BytesIO()
        self.known._build(obj, known, context, path)
        raw = known.getvalue()
        stream.write(bytes([raw[0] + 2]) + raw[1:])
        for tag, value in ((1000, b"newer"), (2**32 - 1, b"")):
            UVARINT._build(tag, stream, context, path)
            UVARINT._build(len(value), stream, context, path)
            stream.write(value)
        return obj


class FixedCount(Count):
    """Writes the same bytes whatever the length."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(False)
        object.__setattr__(self, "raw", raw)

    def write(self, n: int, stream: Any, path: str) -> None:
        stream.write(self.raw)  # type: ignore[attr-defined]


def nodes_below(node: construct.Construct) -> Iterator[construct.Construct]:
    """Every node of a tree, struct fields as their own (Renamed) nodes."""
    yield node
    if isinstance(node, Instance):
        for field in node.subcon.subcons:
            yield from nodes_below(field)
    elif isinstance(node, construct.Renamed):
        yield from nodes_below(node.subcon)
    elif isinstance(node, ArrayOf):
        yield from nodes_below(node.element)
    elif isinstance(node, NullableStruct):
        yield from nodes_below(node.inner)
    elif isinstance(node, TaggedFields):
        for tagged in node.fields:
            yield from nodes_below(tagged.subcon)


def interpreted(instance: Instance, data: bytes) -> Any:
    """What construct makes of exactly these bytes; None if it refuses them."""
    stream = BytesIO(data)
    try:
        message = instance.parse_stream(stream)
    except (construct.ConstructError, UnicodeDecodeError):
        return None
    return message if stream.tell() == len(data) else None


def compiled(code: Callable[[Any], Any], given: Any) -> Any:
    try:
        return code(given)
    except MalformedMessage:
        return None


def parse_within(codec: Codec[Any]) -> Callable[[bytes], Any]:
    """The codec's other parser, which begins behind a header and need not end at the end."""

    def parse(data: bytes) -> Any:
        message, end = codec.parse_from(memoryview(b"?" + data), 1)
        assert end <= len(data) + 1, "read beyond the end"
        return message if end == len(data) + 1 else None

    return parse


def hostile_counts(node: Sized | ArrayOf) -> list[bytes]:
    """Forms of a length or count that must be refused wherever they stand."""
    if node.count.compact:
        null = [] if node.nullable else [b"\0"]
        huge = [b"\x80\x80\x80\x80\x08", b"\xff\xff\xff\xff\x0f"]
        return [
            *null,
            *huge,
            b"\xff\xff\xff\xff\x1f",
            b"\xff\xff\xff\xff\xff\x0f",
            b"\x81\x80\x80\x80\x80\x00",
        ]
    null = [] if node.nullable else [b"\xff" * node.count.width]
    below, most, least = (-2, 2 ** (8 * node.count.width - 1) - 1, -(2 ** (8 * node.count.width - 1)))
    return [*null, *(n.to_bytes(node.count.width, "big", signed=True) for n in (below, most, least))]


def hostile_messages(cls: type[Message], version: int) -> Iterator[bytes]:
    """The full message once for each length in the tree and each hostile form of it."""
    instance = cls.instance(version)
    message = Full("full").of(instance)
    for node in list(nodes_below(instance)):
        if not isinstance(node, Sized | ArrayOf):
            continue
        honest = node.count
        for raw in hostile_counts(node):
            node.count = FixedCount(raw)
            yield instance.build(message)
        node.count = honest


@every_message
def test_random_messages_have_the_same_bytes_and_values_in_both_codecs(
    cls: type[Message], version: int
) -> None:
    """Build and parse agree with interpreted construct, fields that a version lacks included."""
    instance, codec = cls.instance(version), codec_for(cls, version)
    makers = [
        *(Values(f"{codec.name}/{n}") for n in range(ROUNDS)),
        ManyNumbers(codec.name),
        Full(codec.name),
    ]
    for maker in makers:
        message = maker.of(instance)

        data = codec.build(message)

        assert data == instance.build(message)
        assert codec.parse(data) == message
        assert parse_within(codec)(data) == message
        assert instance.parse(data) == message


@every_message
def test_unknown_tagged_fields_are_passed_over_by_both_codecs(cls: type[Message], version: int) -> None:
    """A newer peer's tags change nothing in what is read (KIP-482)."""
    instance, noisy, codec = cls.instance(version), cls.instance(version), codec_for(cls, version)
    for node in nodes_below(noisy):
        if isinstance(node, construct.Renamed) and node.name == TAGGED:
            node.subcon = UnknownTags(node.subcon)
    for maker in (Values(codec.name), Full(codec.name)):
        message = maker.of(instance)

        data = noisy.build(message)

        assert codec.parse(data) == message
        assert parse_within(codec)(data) == message
        assert instance.parse(data) == message
        assert (data == codec.build(message)) == (version not in cls.flexible)


@every_message
def test_changed_bytes_are_read_or_refused_alike(cls: type[Message], version: int) -> None:
    """Whatever a byte is changed to, both codecs give the same message or both refuse."""
    instance, codec = cls.instance(version), codec_for(cls, version)
    rng = random.Random(codec.name)
    whole = codec.build(Full(codec.name).of(instance))
    for _ in range(MUTATIONS if whole else 0):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 1, 2])):
            data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFE, 0xFF, rng.randrange(256)])

        expected = interpreted(instance, bytes(data))

        assert compiled(codec.parse, bytes(data)) == expected, data.hex()
        assert compiled(parse_within(codec), bytes(data)) == expected, data.hex()


@every_message
def test_a_message_cut_at_any_byte_is_refused(cls: type[Message], version: int) -> None:
    """A truncated message raises MalformedMessage, never anything else and never a value."""
    codec = codec_for(cls, version)
    data = codec.build(Full(codec.name).of(cls.instance(version)))

    taken = [cut for cut in range(len(data)) if compiled(codec.parse, data[:cut]) is not None]
    taken_within = [cut for cut in range(len(data)) if compiled(parse_within(codec), data[:cut]) is not None]

    assert taken == []
    assert taken_within == []


@every_message
def test_bytes_behind_the_message_are_refused(cls: type[Message], version: int) -> None:
    """A message fills its frame exactly."""
    codec = codec_for(cls, version)
    data = codec.build(Full(codec.name).of(cls.instance(version)))

    with pytest.raises(MalformedMessage, match="1 bytes too many"):
        codec.parse(data + b"\0")


@every_message
def test_hostile_lengths_are_refused_without_taking_memory(cls: type[Message], version: int) -> None:
    """Nothing is allocated for a count that the bytes left cannot hold; odd lengths are refused."""
    codec = codec_for(cls, version)
    attacks = list(hostile_messages(cls, version))
    parses = (codec.parse, parse_within(codec))
    for parse in parses:
        parse(codec.build(Full("full").of(cls.instance(version))))
    taken: list[str] = []

    def attack() -> None:
        taken.extend(data.hex() for data in attacks for parse in parses if compiled(parse, data) is not None)

    peak_bytes = least_peak_bytes(attack)

    assert taken == []
    assert peak_bytes < PEAK_BYTES


@every_message
def test_text_that_is_not_utf8_is_refused(cls: type[Message], version: int) -> None:
    """Every string is decoded strictly."""
    codec = codec_for(cls, version)
    data = codec.build(Full(codec.name).of(cls.instance(version)))
    mark = UTF8_MARK.encode()
    places = [at for at in range(len(data)) if data.startswith(mark, at)]

    broken = [data[:at] + b"\xc3(" + data[at + len(mark) :] for at in places]

    assert [d for d in broken if compiled(codec.parse, d) is not None] == []
    assert [d for d in broken if compiled(parse_within(codec), d) is not None] == []


def parts_of(message: Message, version: int) -> Iterator[Message]:
    """The message and every message nested in it that this version has."""
    yield message
    for field in message.wire_fields:
        if version not in field.versions:
            continue
        value = getattr(message, field.name)
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Message):
                yield from parts_of(part, version)


@every_message
def test_none_where_no_null_may_be_is_not_built(cls: type[Message], version: int) -> None:
    """A field without a null form never goes out as one."""
    codec = codec_for(cls, version)
    message = Full(codec.name).of(cls.instance(version))
    built = []
    for part in parts_of(message, version):
        for field in part.wire_fields:
            is_flag = field.node(version, False) is construct.Flag
            if version not in field.versions or version in field.nullable or is_flag:
                continue
            value = getattr(part, field.name)
            setattr(part, field.name, None)
            if compiled(codec.build, message) is not None:
                built.append(f"{type(part).__name__}.{field.name}")
            setattr(part, field.name, value)

    assert built == []
