"""The record payload's codecs: codec id to compress and decompress, never past a bound.

Used by `batch`. A payload comes from strangers and a small one can stand for gigabytes, so every
decompression stops at `max_bytes`. cramjam is imported when a batch first needs it; it works without
Python's lock, so that an event loop goes on beside a thread that is in it.

Snappy is written in the block framing of the Java client (xerial) and read in that or plain.

Source: Kafka's CompressionType; xerial's SnappyOutputStream; the LZ4 frame, gzip and zstd formats.
"""

import enum
import struct
import zlib
from collections.abc import Callable

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.varint import Buffer

DEFAULT_MAX_BYTES = 64 * 1024 * 1024

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES = 32 * 1024
_GZIP_WINDOW_BITS = 31
_GZIP_PIECE_BYTES = 1024 * 1024
_LZ4_FRAME_HEADER = bytes.fromhex("04224d18604082")
"""Magic, version 1 with independent blocks of at most 64 KiB, and the checksum of that."""
_LZ4_BLOCK_BYTES = 64 * 1024
_LZ4_STORED_FLAG = 1 << 31
_LZ4_END = bytes(4)
_LZ4_FAST_LEVEL = 9
"""Kafka's default, which stands for the fast compressor; every other level is one of high compression."""
_ZSTD_LEVEL = 3
_FIRST_GUESS_BYTES = 64 * 1024
_BUFFER_FULL = "failed to write whole buffer"
"""What the library says of a buffer that is too small; there is no other way to tell."""


class Codec(enum.IntEnum):
    """The low three bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: int, data: Buffer, *, level: int | None = None) -> bytes:
    """Compress a batch's records; `level` is Kafka's compression.<codec>.level, None its default."""
    if codec == Codec.NONE:
        return bytes(data)
    if codec == Codec.GZIP:
        zlib_level = zlib.Z_DEFAULT_COMPRESSION if level is None else level
        compressor = zlib.compressobj(zlib_level, wbits=_GZIP_WINDOW_BITS)
        return compressor.compress(data) + compressor.flush()
    import cramjam

    if codec == Codec.SNAPPY:
        return _compress_xerial(bytes(data))
    if codec == Codec.LZ4:
        return _compress_lz4_frame(bytes(data), _LZ4_FAST_LEVEL if level is None else level)
    if codec == Codec.ZSTD:
        return bytes(cramjam.zstd.compress(bytes(data), _ZSTD_LEVEL if level is None else level))
    raise _unknown(codec)


def decompress(codec: int, data: Buffer, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Buffer:
    """Decompress a batch's records.

    Raises CORRUPT_MESSAGE for a payload that is not what `codec` says, MESSAGE_TOO_LARGE for one that
    grows past `max_bytes` (a producer then splits its batch), UNSUPPORTED_COMPRESSION_TYPE for a codec
    that Kafka does not have.
    """
    if codec == Codec.NONE:
        return data
    if codec == Codec.GZIP:
        return _decompress_gzip(bytes(data), max_bytes)
    if codec == Codec.SNAPPY:
        return _decompress_snappy(bytes(data), max_bytes)
    import cramjam

    if codec == Codec.LZ4:
        return _decompress_into(cramjam.lz4.decompress_into, codec, bytes(data), max_bytes)
    if codec == Codec.ZSTD:
        return _decompress_into(cramjam.zstd.decompress_into, codec, bytes(data), max_bytes)
    raise _unknown(codec)


def _unknown(codec: int) -> KafkaError:
    return KafkaError(
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"There is no compression codec with the id {codec}."
    )


def _corrupt(codec: int, why: str) -> KafkaError:
    name = Codec(codec).name.lower()
    return KafkaError(ErrorCode.CORRUPT_MESSAGE, f"The records of a {name} batch cannot be unpacked: {why}.")


def _too_large(codec: int, max_bytes: int) -> KafkaError:
    name = Codec(codec).name.lower()
    return KafkaError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"The records of a {name} batch grow past {max_bytes} bytes when unpacked.",
    )


def _decompress_gzip(data: bytes, max_bytes: int) -> bytearray:
    """All members of a payload. In pieces, for zlib holds what it gives twice."""
    out = bytearray()
    while data:
        member = zlib.decompressobj(wbits=_GZIP_WINDOW_BITS)
        while not member.eof:
            before = len(out)
            try:
                out += member.decompress(data, _GZIP_PIECE_BYTES)
            except zlib.error as error:
                raise _corrupt(Codec.GZIP, str(error)) from None
            if len(out) > max_bytes:
                raise _too_large(Codec.GZIP, max_bytes)
            data = member.unconsumed_tail
            if not data and not member.eof and len(out) == before:
                raise _corrupt(Codec.GZIP, "they end too early")
        data = member.unused_data
    return out


def _decompress_snappy(data: bytes, max_bytes: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):
        return _decompress_raw_snappy(data, max_bytes, max_bytes)
    parts: list[bytes] = []
    room = max_bytes
    position = len(_XERIAL_HEADER)
    if len(data) < position:
        raise _corrupt(Codec.SNAPPY, "their header ends too early")
    while position < len(data):
        (length,) = struct.unpack(">i", data[position : position + 4].ljust(4, b"\xff"))
        block = data[position + 4 : position + 4 + length] if length > 0 else b""
        if len(block) != length:
            raise _corrupt(Codec.SNAPPY, "a block ends too early")
        part = _decompress_raw_snappy(block, room, max_bytes)
        parts.append(part)
        room -= len(part)
        position += 4 + length
    return b"".join(parts)


def _decompress_raw_snappy(block: bytes, room: int, max_bytes: int) -> bytes:
    import cramjam

    try:
        # The size stands in front of a raw block, and the library keeps to it.
        if cramjam.snappy.decompress_raw_len(block) > room:
            raise _too_large(Codec.SNAPPY, max_bytes)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise _corrupt(Codec.SNAPPY, str(error)) from None


def _compress_xerial(data: bytes) -> bytes:
    import cramjam

    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        out += struct.pack(">i", len(block)) + block
    return bytes(out)


def _compress_lz4_frame(data: bytes, level: int) -> bytes:
    """An LZ4 frame of independent blocks: the Java client refuses the linked ones that cramjam makes."""
    import cramjam

    if level != _LZ4_FAST_LEVEL:
        compressor = cramjam.lz4.Compressor(level=level, block_linked=False)
        compressor.compress(data)
        return bytes(compressor.finish())
    out = bytearray(_LZ4_FRAME_HEADER)
    for start in range(0, len(data), _LZ4_BLOCK_BYTES):
        plain = data[start : start + _LZ4_BLOCK_BYTES]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            out += struct.pack("<I", len(block)) + block
        else:
            out += struct.pack("<I", len(plain) | _LZ4_STORED_FLAG) + plain
    return bytes(out + _LZ4_END)


def _decompress_into(
    into: Callable[[bytes, bytearray], int], codec: int, data: bytes, max_bytes: int
) -> memoryview:
    """Decompress into a buffer of fixed size, which the library never leaves; grow it and try again."""
    import cramjam

    size = min(max_bytes, max(_FIRST_GUESS_BYTES, 4 * len(data)))
    while True:
        buffer = bytearray(size)
        try:
            length = into(data, buffer)
        except cramjam.DecompressionError as error:
            if _BUFFER_FULL not in str(error):
                raise _corrupt(codec, str(error)) from None
        else:
            return memoryview(buffer)[:length]
        if size >= max_bytes:
            raise _too_large(codec, max_bytes)
        del buffer  # before there is a larger one
        size = min(max_bytes, 8 * size)
