"""One class for each Kafka message: the typed value, and its construct Struct at any version.

    class HeartbeatRequest(Message, versions="0-4", flexible="4+"):
        group_id: str = wire(STRING)
        group_instance_id: str | None = wire(NULLABLE_STRING, "3+", default=None)

A value has no version in it: a field that a version lacks keeps its default when parsed and is left
out when built. A class without `versions` is a part of others.

Messages are as dataclasses with keyword arguments and slots, and type checkers take them for that. They
are made without the dataclasses module because some 130 of them are made at start-up: here a class
compiles its `__init__` when the first value is made, not when it is imported.

Source: the form of Kafka's own message definitions (versions, nullableVersions, taggedVersions).
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeVar, cast, dataclass_transform, overload

import construct

from wirekafka.protocol.nodes import TAGGED, Instance, NullableStruct, TaggedField, TaggedFields
from wirekafka.protocol.wire import Wire

T = TypeVar("T")
_MISSING: Any = object()
_NEWEST = 1 << 15


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """A closed range of versions; empty when `newest < oldest`."""

    oldest: int
    newest: int

    @classmethod
    def of(cls, text: str) -> "Versions":
        """Read "3", "0-9", "6+" or "none"."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), _NEWEST)
        oldest, _, newest = text.partition("-")
        return cls(int(oldest), int(newest or oldest))

    def __contains__(self, version: int) -> bool:
        return self.oldest <= version <= self.newest

    def as_range(self) -> range:
        return range(self.oldest, self.newest + 1)


class WireField(NamedTuple):
    """What `wire` said about one field; its class gives it its name."""

    name: str
    kind: Wire[Any]
    versions: Versions
    nullable: Versions
    tag: int | None
    tagged: Versions
    never_flexible: bool
    required: bool
    """Whether a value cannot be made without it."""
    default: Callable[[], Any]

    def node(self, version: int, flexible: bool) -> construct.Construct:
        return self.kind.node(version, flexible and not self.never_flexible, version in self.nullable)


# `default` and `factory` must be named where wire() is called: type checkers take their presence
# as leave to omit the argument.
@overload
def wire(
    kind: Wire[T],
    versions: str = ...,
    *,
    nullable: str = ...,
    tag: int | None = ...,
    tagged: str = ...,
    flexible: str = ...,
    factory: Callable[[], T] = ...,
) -> T: ...
@overload
def wire(
    kind: Wire[T],
    versions: str = ...,
    *,
    nullable: str = ...,
    tag: int | None = ...,
    tagged: str = ...,
    flexible: str = ...,
    default: T,
) -> T: ...
def wire(
    kind: Wire[T],
    versions: str = "0+",
    *,
    nullable: str = "",
    tag: int | None = None,
    tagged: str = "none",
    flexible: str = "",
    default: T = _MISSING,
    factory: Callable[[], T] | None = None,
) -> T:
    """Declare a field of a message.

    `versions` has it at all, `nullable` may have null (a nullable kind: all of them, unless said),
    `tagged` has it in the tagged section under `tag`. `flexible="none"` keeps the old length form in
    flexible versions (the client id of the request header alone). A field without a default must be
    given when a message is made.
    """
    declared: Any = WireField(
        "",
        kind,
        Versions.of(versions),
        Versions.of(nullable or ("0+" if kind.nullable else "none")),
        tag,
        Versions.of(tagged),
        flexible == "none",
        default is _MISSING and factory is None,
        factory or (kind.zero if default is _MISSING else lambda: default),
    )
    return cast(T, declared)


@dataclass_transform(kw_only_default=True, field_specifiers=(wire,))
class MessageType(type):
    """Makes slots and `wire_fields` of what `wire` declared in a class body."""

    def __new__(
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        versions: str = "none",
        flexible: str = "none",
    ) -> "MessageType":
        declared = {key: value for key, value in namespace.items() if isinstance(value, WireField)}
        kept = {key: value for key, value in namespace.items() if key not in declared}
        made: Any = super().__new__(mcs, name, bases, {**kept, "__slots__": tuple(declared)})
        made.wire_fields = tuple(value._replace(name=key) for key, value in declared.items())
        made.versions = Versions.of(versions)
        made.flexible = Versions.of(flexible)
        return cast(MessageType, made)


class Message(metaclass=MessageType):
    """What every message class has.

    `versions` are those that Kafka serves, none for a part of other messages; `flexible` are those with
    compact forms and tagged fields.
    """

    wire_fields: ClassVar[tuple[WireField, ...]]
    versions: ClassVar[Versions]
    flexible: ClassVar[Versions]
    __hash__ = None  # type: ignore[assignment]  # a message may be changed

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        cls.__init__ = _compile_init(cls)  # type: ignore[method-assign]
        cls.__init__(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in self.wire_fields)

    def __repr__(self) -> str:
        values = (f"{f.name}={getattr(self, f.name)!r}" for f in self.wire_fields)
        return f"{type(self).__name__}({', '.join(values)})"

    @classmethod
    def is_whole(cls) -> bool:
        """Whether the class is a message of its own, not a part of others."""
        return cls.versions.newest >= cls.versions.oldest

    @classmethod
    def struct(cls, version: int, flexible: bool | None = None) -> construct.Struct:
        """The construct Struct of one version. `flexible` is for parts, which have no say in it."""
        if flexible is None:
            flexible = version in cls.flexible
        fields, tagged = [], []
        for f in cls.wire_fields:
            if version not in f.versions:
                continue
            if flexible and version in f.tagged:
                assert f.tag is not None
                node = f.node(version, flexible)
                node = node.in_tag() if isinstance(node, NullableStruct) else node
                tagged.append(TaggedField(f.tag, f.name, node, f.default))
            else:
                fields.append(f.name / f.node(version, flexible))
        if flexible:
            fields.append(TAGGED / TaggedFields(tagged))
        return construct.Struct(*fields)

    @classmethod
    def instance(cls, version: int, flexible: bool | None = None) -> Instance:
        """The same, as a node whose values are instances of this class."""
        absent = {f.name: f.default for f in cls.wire_fields if version not in f.versions}
        return Instance(cls, cls.struct(version, flexible), absent)


def _compile_init(cls: type[Message]) -> Callable[..., None]:
    """Write an `__init__` that takes the fields by keyword; those without a default must be given."""
    scope: dict[str, Any] = {"ABSENT": _MISSING}
    parameters, body = [], []
    for f in cls.wire_fields:
        value = f.default()
        if f.required:
            parameters.append(f.name)
            body.append(f"self.{f.name} = {f.name}")
        elif value is None or isinstance(value, int | float | str | bytes):
            parameters.append(f"{f.name}={value!r}")
            body.append(f"self.{f.name} = {f.name}")
        else:
            scope[f"default_{f.name}"] = f.default
            parameters.append(f"{f.name}=ABSENT")
            body.append(f"self.{f.name} = default_{f.name}() if {f.name} is ABSENT else {f.name}")
    head = f"def __init__(self, *, {', '.join(parameters)}):" if parameters else "def __init__(self):"
    exec("\n    ".join([head, *(body or ["pass"])]), scope)
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init
