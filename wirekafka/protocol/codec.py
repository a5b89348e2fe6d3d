"""`codec_for(message class, version)`: the compiled parser and builder, made when first used.

What the server runs. Whatever is wrong with the bytes, `parse` raises MalformedMessage and nothing
else; whatever is wrong with a value, `build` does.
"""

import struct
from typing import Any, Generic, TypeVar, cast

from wirekafka.protocol.compile_build import compile_build
from wirekafka.protocol.compile_parse import compile_parse
from wirekafka.protocol.compiler import BuildFunction, ParseFunction
from wirekafka.protocol.error_codes import MalformedMessage
from wirekafka.protocol.message import Message

M = TypeVar("M", bound=Message)

_SHORT_INPUT = (IndexError, struct.error, UnicodeDecodeError)
_ODD_VALUE = (struct.error, AttributeError, TypeError, UnicodeEncodeError)


class Codec(Generic[M]):
    """Parses and builds one message class at one version."""

    def __init__(self, cls: type[M], version: int) -> None:
        self.cls, self.version = cls, version
        self.name = f"{cls.__name__} v{version}"
        self._parse: ParseFunction | None = None
        self._build: BuildFunction | None = None

    def parse(self, data: bytes | bytearray | memoryview) -> M:
        """The message that fills `data` exactly. Raises MalformedMessage."""
        message, position = self.parse_from(data, 0)
        if position != len(data):
            raise MalformedMessage(f"{self.name}: {len(data) - position} bytes too many")
        return message

    def parse_from(self, data: bytes | bytearray | memoryview, position: int) -> tuple[M, int]:
        """The message that begins at `position`, and the position behind it. Raises MalformedMessage."""
        if self._parse is None:
            self._parse = compile_parse(self.name, self.cls.instance(self.version))
        try:
            return cast(tuple[M, int], self._parse(data, position, len(data)))
        except _SHORT_INPUT as error:
            raise MalformedMessage(f"{self.name}: {error or 'it ends too early'}") from None
        except MalformedMessage as error:
            raise MalformedMessage(f"{self.name}: {error}") from None

    def build(self, message: M) -> bytes:
        """The message as bytes. Raises MalformedMessage for a value that has no byte form."""
        parts: list[Any] = []
        last = self.build_into(message, bytearray(), parts)
        return b"".join([*parts, last])

    def build_into(self, message: M, out: bytearray, parts: list[Any]) -> bytearray:
        """Append the message to `out`.

        Large record data, and data that is not bytes (a slice of a file), is not copied: `out` as
        far as it came and then the data go to `parts`. The bytearray that the message ends in is
        given back, and belongs behind `parts`.
        """
        if self._build is None:
            self._build = compile_build(self.name, self.cls.instance(self.version))
        try:
            return self._build(message, out, parts)
        except _ODD_VALUE as error:
            raise MalformedMessage(f"{self.name}: {error}") from error


_codecs: dict[tuple[type[Message], int], Codec[Any]] = {}


def codec_for(cls: type[M], version: int) -> Codec[M]:
    """The codec of a message class at a version that the class has."""
    codec = _codecs.get((cls, version))
    if codec is None:
        if version not in cls.versions:
            raise MalformedMessage(f"{cls.__name__} has no version {version}")
        codec = _codecs[cls, version] = Codec(cls, version)
    return codec
