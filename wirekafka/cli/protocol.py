"""`wirekafka protocol`: look at what goes over the wire.

`decode` shows a captured frame field by field, by the same schemas that the broker runs on. Calls
`protocol.trace` for the fields and `protocol.records` to sum up batches.

Source: the Kafka protocol guide, "Common Request and Response Structure".
"""

import difflib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import click

from wirekafka.ids import uuid_text
from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.api_versions import API_VERSIONS
from wirekafka.protocol.error_codes import ErrorCode, MalformedMessage
from wirekafka.protocol.headers import RequestHeader, ResponseHeader
from wirekafka.protocol.message import Message
from wirekafka.protocol.names import MESSAGES
from wirekafka.protocol.records import Codec, RecordBatch, batches_in
from wirekafka.protocol.trace import MalformedAt, TracedField, trace_message

# Any stands where an Api of whatever pair of message types is meant.

LENGTH_BYTES = 4
_HEX_BYTES_SHOWN = 12
_TEXT_SHOWN = 120
_HEX_COLUMN = 3 * _HEX_BYTES_SHOWN + 8
_HEX_DIGITS = frozenset(b"0123456789abcdefABCDEF")
_HEX_FILLING = b" \t\r\n:,"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the listing: a position in the input, the bytes there, and what they are."""

    position: int | None
    raw: bytes
    depth: int
    name: str
    text: str

    def columns(self) -> tuple[str, str, str]:
        """Position, hex and indent, each at its width."""
        position = "" if self.position is None else str(self.position)
        shown = self.raw[:_HEX_BYTES_SHOWN].hex(" ")
        more = len(self.raw) - _HEX_BYTES_SHOWN
        return (
            f"{position:>8}",
            f"{shown + f' +{more}' if more > 0 else shown:<{_HEX_COLUMN}}",
            "  " * self.depth,
        )


@click.group()
def protocol() -> None:
    """Look at the Kafka wire protocol."""


@protocol.command()
@click.argument("file", type=click.File("rb"), default="-")
@click.option(
    "--hex/--binary", "is_hex", default=None, help="How the input is written. [default: look at it]"
)
@click.option("--response", is_flag=True, help="The frame is a response; needs --api and --version.")
@click.option("--api", "api_name", metavar="NAME", help="Name or key of the API that a response answers.")
@click.option("--version", type=int, metavar="N", help="Version of the request that a response answers.")
@click.option(
    "--raw-message", type=(str, int), metavar="NAME VERSION",
    help="The input is one message without header, such as FetchResponse 12 or OffsetCommitValue 3.",
)  # fmt: skip
def decode(
    file: BinaryIO,
    is_hex: bool | None,
    response: bool,
    api_name: str | None,
    version: int | None,
    raw_message: tuple[str, int] | None,
) -> None:
    """Show a captured frame field by field.

    FILE holds one request frame, in binary or as hex digits; - is standard input. The 4-byte
    length in front may be there or not. Each line has the position in the input, the bytes there,
    and the field. What is malformed is shown up to the fault, and ends in exit status 1.

    \b
    Examples:
      echo 00000013 0012 0000 00000001 0009 77697265636174 6368 | wirekafka protocol decode
      wirekafka protocol decode request.bin
      wirekafka protocol decode --response --api Metadata --version 12 answer.bin
      wirekafka protocol decode --raw-message OffsetCommitValue 3 value.hex
    """
    if response and raw_message is not None:
        raise click.UsageError("--response and --raw-message exclude each other.")
    if not response and (api_name is not None or version is not None):
        raise click.UsageError("--api and --version go with --response; a request says both itself.")
    listing = _listing(response, api_name, version, raw_message)
    show = _printer()
    try:
        for line in listing(_input(file.read(), is_hex)):
            show(line)
    except MalformedMessage as error:
        click.echo(f"Malformed: {error}", err=True)
        sys.exit(1)


def _listing(
    response: bool, api_name: str | None, version: int | None, raw_message: tuple[str, int] | None
) -> Callable[[bytes], Iterator[Line]]:
    """What the options ask for, as a function of the input. Raises UsageError for what nobody has."""
    if raw_message is not None:
        cls = _message_class(*raw_message)
        return lambda data: _whole(cls, raw_message[1], data, 0)
    if not response:
        return _request
    if api_name is None or version is None:
        raise click.UsageError("--response needs --api and --version: a response does not say what it is.")
    api = _api(api_name)
    cls = _message_class(api.response.__name__, version)
    return lambda data: _response(api, version, data)


def _input(data: bytes, is_hex: bool | None) -> bytes:
    """The bytes meant by a file's content, which may be hex digits."""
    digits = data.replace(b"0x", b"").translate(None, _HEX_FILLING)
    if is_hex is None:
        is_hex = bool(digits) and _HEX_DIGITS.issuperset(digits)
    if not is_hex:
        return data
    try:
        return bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        raise click.ClickException(
            f"Not hex: {len(digits)} characters that are no pairs of digits."
        ) from None


def _api(name: str) -> Api[Any, Any]:
    for api in APIS.values():
        if name.lower() == api.name.lower() or name == str(api.key):
            return api
    raise click.UsageError(f"No API {name}.{_close_to(name, [api.name for api in APIS.values()])}")


def _message_class(name: str, version: int) -> type[Message]:
    cls = MESSAGES.get(name)
    if cls is None:
        raise click.UsageError(f"No message {name}.{_close_to(name, list(MESSAGES))}")
    if version not in cls.versions:
        known = f"{cls.versions.oldest} to {cls.versions.newest}"
        raise click.UsageError(f"{name} has no version {version}; known are {known}.")
    return cls


def _close_to(name: str, names: list[str]) -> str:
    close = difflib.get_close_matches(name, names)
    return f" Did you mean {' or '.join(close)}?" if close else f" Known: {', '.join(names)}."


def _request(data: bytes) -> Iterator[Line]:
    start = LENGTH_BYTES if _has_length(data) else 0
    if start:
        yield _length_line(data)
    key, version = _key_and_version(data, start)
    api = APIS.get(key)
    header_version = 2 if api is not None and api.is_flexible(version) else 1
    end = start
    for field in trace_message(RequestHeader, header_version, data, start):
        yield _line(field, data)
        end = field.end
    if api is None:
        raise MalformedAt(start, "request_api_key", f"{key} is no API that is known here")
    yield Line(None, b"", 0, f"{api.name}Request", f"v{version}")
    if version not in api.versions:
        known = f"v{api.versions.oldest} to v{api.versions.newest}"
        raise MalformedAt(start + 2, "request_api_version", f"{version}, while {known} are known here")
    yield from _whole(api.request, version, data, end)
    if start and _length(data) != len(data) - LENGTH_BYTES:
        raise MalformedAt(0, "length", f"{_length(data)}, while {len(data) - LENGTH_BYTES} bytes follow")


def _response(api: Api[Any, Any], version: int, data: bytes) -> Iterator[Line]:
    end = LENGTH_BYTES if _length(data) == len(data) - LENGTH_BYTES else 0
    if end:
        yield _length_line(data)
    header_version = 1 if api.is_flexible(version) and api is not API_VERSIONS else 0
    for field in trace_message(ResponseHeader, header_version, data, end):
        yield _line(field, data)
        end = field.end
    yield Line(None, b"", 0, f"{api.name}Response", f"v{version}")
    yield from _whole(api.response, version, data, end)


def _whole(cls: type[Message], version: int, data: bytes, position: int) -> Iterator[Line]:
    """A message that goes to the end of the input."""
    for field in trace_message(cls, version, data, position):
        yield _line(field, data)
        if field.form == "records" and field.value:
            yield from _batches(field)
        position = field.end
    if position != len(data):
        raise MalformedAt(
            position, cls.__name__, f"{len(data) - position} bytes behind the end of the message"
        )


def _has_length(data: bytes) -> bool:
    """Whether a request has its length in front: it fits, or only so the frame is a request."""
    if _length(data) == len(data) - LENGTH_BYTES:
        return True
    return not _is_known(data, 0) and _is_known(data, LENGTH_BYTES)


def _is_known(data: bytes, start: int) -> bool:
    if len(data) < start + 4:
        return False
    key, version = _key_and_version(data, start)
    return key in APIS and version in APIS[key].versions


def _length(data: bytes) -> int:
    return int.from_bytes(data[:LENGTH_BYTES], "big", signed=True)


def _key_and_version(data: bytes, start: int) -> tuple[int, int]:
    key, version = data[start : start + 2], data[start + 2 : start + 4]
    return int.from_bytes(key, "big", signed=True), int.from_bytes(version, "big", signed=True)


def _length_line(data: bytes) -> Line:
    length, rest = _length(data), len(data) - LENGTH_BYTES
    text = str(length) if length == rest else f"{length}, but {rest} bytes follow"
    return Line(0, data[:LENGTH_BYTES], 0, "length", text)


def _line(field: TracedField, data: bytes) -> Line:
    return Line(field.start, data[field.start : field.end], field.depth, field.name, _text(field))


def _text(field: TracedField) -> str:
    """A field's value for a person."""
    value = field.value
    if value is None:
        return "null"
    match field.form:
        case "text":
            return _shortened(repr(value))
        case "id":
            return uuid_text(value)
        case "bytes" | "records":
            return f"{len(value)} bytes"
        case "array":
            return f"{value} elements" if value != 1 else "1 element"
        case "struct" | "tag":
            return ""
        case _:
            return f"{value}{_meaning(field.name, value)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT_SHOWN else f"{text[:_TEXT_SHOWN]}... ({len(text)} characters)"


def _meaning(name: str, value: int) -> str:
    """The name behind a number that has one."""
    if name == "request_api_key" and value in APIS:
        return f" ({APIS[value].name})"
    if name.endswith("error_code"):
        try:
            return f" ({ErrorCode(value).name})"
        except ValueError:
            return " (no code of Kafka's)"
    return ""


def _batches(field: TracedField) -> Iterator[Line]:
    """One line a batch; then what is no whole batch."""
    first = field.end - len(field.value)
    walk = batches_in(field.value)
    for batch in walk:
        yield Line(first + batch.position, b"", field.depth + 1, "batch", _summary(batch))
    if walk.torn:
        left = len(field.value) - walk.position
        yield Line(
            first + walk.position, b"", field.depth + 1, "torn", f"{left} bytes that are no whole batch"
        )


def _summary(batch: RecordBatch) -> str:
    codec = Codec(batch.codec).name.lower() if batch.codec in set(Codec) else f"unknown codec {batch.codec}"
    marks = [
        f"base offset {batch.base_offset}",
        f"{batch.record_count} records",
        codec,
        "crc ok" if batch.crc_ok() else "CRC WRONG",
        f"{batch.size_in_bytes} bytes",
    ]
    if batch.magic != 2:
        marks.append(f"MAGIC {batch.magic}")
    if batch.producer_id >= 0:
        marks.append(f"producer {batch.producer_id} epoch {batch.producer_epoch} from {batch.base_sequence}")
    marks += [word for word, is_so in _flags(batch) if is_so]
    return ", ".join(marks)


def _flags(batch: RecordBatch) -> list[tuple[str, bool]]:
    return [
        ("transactional", batch.is_transactional),
        ("control", batch.is_control),
        ("log append time", batch.is_log_append_time),
    ]


def _printer() -> Callable[[Line], None]:
    """Prints plain lines, or coloured ones on a terminal."""
    if not sys.stdout.isatty():
        return _print_plain
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)

    def show(line: Line) -> None:
        position, raw, indent = line.columns()
        text = Text.assemble(
            (f"{position}  ", "dim"), (raw, "cyan"), f"  {indent}", (line.name, "bold"), f"  {line.text}"
        )
        console.print(text)

    return show


def _print_plain(line: Line) -> None:
    position, raw, indent = line.columns()
    click.echo(f"{position}  {raw}  {indent}{line.name}  {line.text}".rstrip())
