"""Zig-zag varints and varlongs, as the fields of a record are written.

Used by `record`. Reading past the end raises IndexError, an over-long number ValueError; `record`
turns both into CORRUPT_MESSAGE.

Source: Kafka's ByteUtils (the encoding is Protocol Buffers' sint32 and sint64).
"""

_LONGEST_VARINT_SHIFT = 28
_LONGEST_VARLONG_SHIFT = 63

Buffer = bytes | bytearray | memoryview


def read_varint(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read a signed 32-bit number, and the position behind it."""
    byte = buffer[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _read(buffer, position, _LONGEST_VARINT_SHIFT)


def read_varlong(buffer: Buffer, position: int) -> tuple[int, int]:
    """Read a signed 64-bit number, and the position behind it."""
    byte = buffer[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    return _read(buffer, position, _LONGEST_VARLONG_SHIFT)


def _read(buffer: Buffer, position: int, longest_shift: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > longest_shift:
            raise ValueError("a varint with too many bytes")
    bits = 32 if longest_shift == _LONGEST_VARINT_SHIFT else 64
    value &= (1 << bits) - 1
    return (value >> 1) ^ -(value & 1), position


def write_varint(out: bytearray, value: int) -> None:
    """Append a signed number of up to 64 bits."""
    value = (value << 1) ^ (value >> 63)
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
