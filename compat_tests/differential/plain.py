"""Turns an answer into plain values that two brokers can be compared by.

Called by `side`; calls the rules of `fields`. Record data becomes its batch headers, field by field.
Source: Kafka's DefaultRecordBatch for the header.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sized

from compat_tests.differential.batches import HEADER, LOG_APPEND_TIME
from compat_tests.differential.fields import NAMED_BY, ORDERED, Plain, Stands
from wirekafka.protocol.message import Message

_BATCH_FIELDS = (
    "base_offset", "batch_length", "partition_leader_epoch", "magic", "crc", "attributes",
    "last_offset_delta", "base_timestamp", "max_timestamp", "producer_id", "producer_epoch",
    "base_sequence", "record_count",
)  # fmt: skip
_BEFORE_LENGTH = 12


def plain(value: object, stands: Stands, name: str = "", within: str = "") -> Plain:
    """Give the value as dicts, lists, text and numbers, with random values replaced."""
    if name == "records" and isinstance(value, Sized):
        return _batches(bytes(value))  # type: ignore[call-overload]  # a view or bytes
    if isinstance(value, Message):
        return {f.name: plain(getattr(value, f.name), stands, f.name, name) for f in value.wire_fields}
    if isinstance(value, list):
        return _listed([plain(item, stands, name) for item in value], name)
    if isinstance(value, bytes | bytearray | memoryview):
        return stands.for_bytes(name, bytes(value))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return stands.for_text(name, value)
    if isinstance(value, int):
        return stands.for_number(name, value)
    raise TypeError(f"{name} is a {type(value).__name__}")


def _listed(items: list[Plain], name: str) -> list[Plain]:
    return items if name in ORDERED else sorted(items, key=naming)


def naming(item: Plain) -> tuple[str, ...]:
    """What names an entry of a list, for sorting and for telling of it."""
    if not isinstance(item, dict):
        return (_sortable(item),)
    return tuple(_sortable(item[key]) for key in NAMED_BY if key in item)


def _sortable(value: Plain) -> str:
    return f"{value:06}" if isinstance(value, int) else str(value)


def _batches(data: bytes) -> Plain:
    found: list[Plain] = []
    position = 0
    while len(data) - position >= HEADER.size:
        values = dict(zip(_BATCH_FIELDS, HEADER.unpack_from(data, position), strict=True))
        end = position + _BEFORE_LENGTH + values["batch_length"]
        if end > len(data):
            break
        header: dict[str, Plain] = dict(values)
        if values["attributes"] & LOG_APPEND_TIME:
            header |= {"max_timestamp": "a time", "crc": "of a time"}
        header["payload"] = _shortened(data[position + HEADER.size : end])
        found.append(header)
        position = end
    if position < len(data):
        found.append({"torn_bytes": len(data) - position})
    return found


def _shortened(data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()[:16]
    return data.hex() if len(data) <= 64 else f"{len(data)} bytes, {digest}"
