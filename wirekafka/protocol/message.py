"""One class for each Kafka message: the typed value, and its construct Struct at any version.

    @message(versions="0-4", flexible="4+")
    class HeartbeatRequest(Message):
        group_id: str = wire(STRING)
        group_instance_id: str | None = wire(NULLABLE_STRING, "3+", default=None)

A value has no version in it: a field that a version lacks keeps its default when parsed and is left
out when built.

Source: the form of Kafka's own message definitions (versions, nullableVersions, taggedVersions).
"""

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast, dataclass_transform, overload

import construct

from wirekafka.protocol.nodes import TAGGED, Instance, TaggedField, TaggedFields
from wirekafka.protocol.wire import Wire

T = TypeVar("T")
M = TypeVar("M", bound="Message")
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


@dataclasses.dataclass(frozen=True, slots=True)
class WireField:
    """What `wire` said about one field."""

    name: str
    kind: Wire[Any]
    versions: Versions
    nullable: Versions
    tag: int | None
    tagged: Versions
    never_flexible: bool
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
    if factory is None:
        factory = kind.zero if default is _MISSING else lambda: default
    nullable = nullable or ("0+" if kind.nullable else "none")
    said = (kind, Versions.of(versions), Versions.of(nullable), tag, Versions.of(tagged), flexible == "none")
    made: Any = dataclasses.field(default_factory=factory, metadata={"wire": said})
    return cast(T, made)


class Message:
    """What every message class has; `@message` fills it in."""

    __slots__ = ()
    wire_fields: ClassVar[tuple[WireField, ...]]
    versions: ClassVar[Versions]
    flexible: ClassVar[Versions]

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
                tagged.append(TaggedField(f.tag, f.name, f.node(version, flexible), f.default))
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


@dataclass_transform(kw_only_default=True, field_specifiers=(wire,))
def message(*, versions: str = "none", flexible: str = "none") -> Callable[[type[M]], type[M]]:
    """Make a class of `wire` fields a message.

    `versions` are those that Kafka serves, none for a part of other messages; `flexible` are those
    with compact forms and tagged fields.
    """

    def decorate(cls: type[M]) -> type[M]:
        made = dataclasses.dataclass(kw_only=True, slots=True)(cls)
        made.wire_fields = tuple(_wire_field(f) for f in dataclasses.fields(made))  # type: ignore[arg-type]
        made.versions = Versions.of(versions)
        made.flexible = Versions.of(flexible)
        return made

    return decorate


def _wire_field(field: "dataclasses.Field[Any]") -> WireField:
    kind, versions, nullable, tag, tagged, never_flexible = field.metadata["wire"]
    default = field.default_factory
    assert default is not dataclasses.MISSING
    return WireField(field.name, kind, versions, nullable, tag, tagged, never_flexible, default)
