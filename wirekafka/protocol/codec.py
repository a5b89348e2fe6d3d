"""`codec_for(message class, version)`: the compiled parser and builder, made when first used.

What the server runs. Whatever is wrong with the bytes, `parse` raises MalformedMessage and nothing
else; whatever is wrong with a value, `build` does.

Source: Kafka's message generator, which writes read and write methods for each message likewise.
"""

import struct
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from wirekafka.protocol.compile_build import compile_build
from wirekafka.protocol.compile_parse import compile_parse
from wirekafka.protocol.compiler import BuildFunction, ParseFunction, holds_records
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.message import Message

M = TypeVar("M", bound=Message)
Buffer = bytes | bytearray | memoryview

_SHORT_INPUT = (IndexError, struct.error, UnicodeDecodeError)
_ODD_VALUE = (struct.error, AttributeError, TypeError, ValueError, OverflowError)


class Codec(Generic[M]):
    """Parses and builds one message class at one version."""

    def __init__(self, cls: type[M], version: int) -> None:
        self.cls, self.version = cls, version
        self.name = f"{cls.__name__} v{version}"
        self._whole: Callable[[Buffer], bytes | memoryview] = memoryview
        self._parse_whole: ParseFunction | None = None
        self._parse_from: ParseFunction | None = None
        self._build: BuildFunction | None = None

    def parse(self, data: Buffer) -> M:
        """The message that fills `data` exactly. Raises MalformedMessage.

        Record data in it are views of `data`. A message without any is read from a copy: slices of
        bytes are so much cheaper than slices of a view that two strings pay for the copy.
        """
        message, position = self.parse_first(data)
        if position != len(data):
            raise MalformedMessage(f"{self.name}: {len(data) - position} bytes too many")
        return message

    def parse_first(self, data: Buffer) -> tuple[M, int]:
        """The message that `data` begins with, and the position behind it. Raises MalformedMessage."""
        parse = self._parse_whole or self._compile_parse_whole()
        return self._run(parse, self._whole(data), 0)

    def parse_from(self, data: Buffer, position: int) -> tuple[M, int]:
        """The message that begins at `position`, and the position behind it. Raises MalformedMessage.

        What lies behind the message is neither looked at nor copied.
        """
        return self._run(self._parse_from or self._compile_parse_from(), data, position)

    def build(self, message: M) -> bytes:
        """The message as bytes. Raises MalformedMessage for a value that has no byte form."""
        parts: list[Any] = []
        last = self.build_into(message, bytearray(), parts)
        return b"".join([*parts, last]) if parts else bytes(last)

    def build_into(self, message: M, out: bytearray, parts: list[Any]) -> bytearray:
        """Append the message to `out`.

        Large record data, and data that is not bytes (a slice of a file), is not copied: `out` as
        far as it came and then the data go to `parts`. The bytearray that the message ends in is
        given back, and belongs behind `parts`.
        """
        build = self._build or self._compile_build()
        try:
            return build(message, out, parts)
        except _ODD_VALUE as error:
            raise MalformedMessage(f"{self.name}: {error}") from error

    def _run(self, parse: ParseFunction, data: Buffer, position: int) -> tuple[M, int]:
        try:
            return cast(tuple[M, int], parse(data, position, len(data)))
        except _SHORT_INPUT as error:
            raise MalformedMessage(f"{self.name}: {error or 'it ends too early'}") from None
        except MalformedMessage as error:
            raise MalformedMessage(f"{self.name}: {error}") from None

    def _compile_parse_whole(self) -> ParseFunction:
        instance = self.cls.instance(self.version)
        from_bytes = not holds_records(instance)
        if from_bytes:
            self._whole = bytes
        self._parse_whole = compile_parse(self.name, instance, from_bytes=from_bytes)
        return self._parse_whole

    def _compile_parse_from(self) -> ParseFunction:
        instance = self.cls.instance(self.version)
        self._parse_from = compile_parse(f"{self.name} within", instance, from_bytes=False)
        return self._parse_from

    def _compile_build(self) -> BuildFunction:
        self._build = compile_build(self.name, self.cls.instance(self.version))
        return self._build


_codecs: dict[tuple[type[Message], int], Codec[Any]] = {}


def codec_for(cls: type[M], version: int) -> Codec[M]:
    """The codec of a message class at a version that the class has."""
    codec = _codecs.get((cls, version))
    if codec is None:
        if version not in cls.versions:
            raise MalformedMessage(f"{cls.__name__} has no version {version}")
        codec = _codecs[cls, version] = Codec(cls, version)
    return codec
