"""Tests of protocol.records.compression."""

import gzip
import struct
import subprocess
import sys
import tracemalloc

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirekafka.protocol.error_codes import ErrorCode, KafkaError
from wirekafka.protocol.records.compression import Codec, compress, decompress

CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]
SAMPLE = bytes(range(256)) * 400


@pytest.mark.parametrize("codec", list(Codec))
@settings(max_examples=20, deadline=None)
@given(data=st.binary(min_size=1, max_size=2000).map(lambda piece: piece * 60))
def test_what_is_compressed_comes_back(codec: Codec, data: bytes) -> None:
    """Every codec of Kafka, over more than one block of its framing."""
    assert bytes(decompress(codec, compress(codec, data))) == data


def test_an_empty_payload_comes_back() -> None:
    """A batch may have no records."""
    for codec in Codec:
        assert bytes(decompress(codec, compress(codec, b""))) == b""


def test_snappy_is_written_in_the_java_clients_framing() -> None:
    """xerial: a magic, two version numbers, then blocks with their lengths."""
    data = compress(Codec.SNAPPY, b"a" * 40_000)

    assert data.startswith(b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1))
    (length,) = struct.unpack_from(">i", data, 16)
    assert bytes(cramjam.snappy.decompress_raw(data[20 : 20 + length])) == b"a" * 32 * 1024


def test_plain_snappy_is_read() -> None:
    """librdkafka writes a raw block without framing."""
    data = bytes(cramjam.snappy.compress_raw(SAMPLE))

    assert decompress(Codec.SNAPPY, data) == SAMPLE


def test_lz4_has_independent_blocks() -> None:
    """The Java client refuses a frame whose blocks depend on each other (flag bit 5)."""
    for level in (9, 1, 17):
        data = compress(Codec.LZ4, SAMPLE, level=level)

        assert data[4] & 0x20
        assert bytes(cramjam.lz4.decompress(data)) == SAMPLE


def test_lz4_stores_what_does_not_shrink() -> None:
    """A block that would grow is stored as it is, marked by the highest bit of its length."""
    noise = bytes((i * 7919 >> 3) & 0xFF ^ (i * 104729 >> 7) & 0xFF for i in range(500))
    data = compress(Codec.LZ4, b"q")

    assert struct.unpack_from("<I", data, 7) == (1 | 1 << 31,)
    assert bytes(decompress(Codec.LZ4, compress(Codec.LZ4, noise))) == noise


def test_gzip_of_several_members_is_read() -> None:
    """Java's reader goes on to the next member; so do we."""
    assert decompress(Codec.GZIP, gzip.compress(b"one") + gzip.compress(b"two")) == b"onetwo"


@pytest.mark.parametrize("codec", CODECS)
def test_a_payload_of_exactly_the_bound_passes_and_one_byte_more_does_not(codec: Codec) -> None:
    """The bound is on what comes out."""
    assert len(decompress(codec, compress(codec, bytes(100_000)), max_bytes=100_000)) == 100_000
    with pytest.raises(KafkaError) as caught:
        decompress(codec, compress(codec, bytes(100_001)), max_bytes=100_000)

    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_takes_no_more_memory_than_the_bound(codec: Codec) -> None:
    """zstd grows 32,000 fold; a small payload may not cost gigabytes."""
    bomb = compress(codec, bytes(32 * 1024 * 1024))
    tracemalloc.start()
    try:
        with pytest.raises(KafkaError) as caught:
            decompress(codec, bomb, max_bytes=1024 * 1024)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert peak < 4 * 1024 * 1024 + 2 * len(bomb)


_GROWTH_OF_A_BOMB = """
import resource, sys
from wirekafka.protocol.error_codes import KafkaError
from wirekafka.protocol.records.compression import Codec, compress, decompress
codec = Codec(int(sys.argv[1]))
piece = compress(codec, bytes(4 * 1024 * 1024))
bomb = (piece if codec is not Codec.SNAPPY else piece[16:]) * 256
bomb = piece[:16] + bomb if codec is Codec.SNAPPY else bomb
try:
    decompress(codec, piece, max_bytes=1024)
except KafkaError:
    pass
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    decompress(codec, bomb, max_bytes=16 * 1024 * 1024)
except KafkaError as error:
    print(error.code.name, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_of_a_gibibyte_does_not_make_the_process_grow(codec: Codec) -> None:
    """The libraries behind the codecs keep to the bound too, with what Python does not count."""
    command = [sys.executable, "-c", _GROWTH_OF_A_BOMB, str(int(codec))]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split()

    assert said[0] == "MESSAGE_TOO_LARGE"
    assert int(said[1]) < 64


@pytest.mark.parametrize(
    ("codec", "low", "high"), [(Codec.GZIP, 1, 9), (Codec.LZ4, 9, 12), (Codec.ZSTD, -5, 19)]
)
def test_a_higher_level_compresses_more(codec: Codec, low: int, high: int) -> None:
    """compression.gzip.level, .lz4.level (9 is the fast compressor in Kafka too) and .zstd.level."""
    text = b"".join(b"%d squared is %d, " % (i, i * i) for i in range(4000))
    sizes = [len(compress(codec, text, level=level)) for level in (low, high)]

    assert sizes[1] < sizes[0]
    assert bytes(decompress(codec, compress(codec, text, level=low))) == text
    assert bytes(decompress(codec, compress(codec, text, level=high))) == text


@pytest.mark.parametrize(
    ("codec", "level"), [(Codec.GZIP, -1), (Codec.LZ4, 9), (Codec.ZSTD, 3), (Codec.SNAPPY, None)]
)
def test_no_level_is_the_default_of_kafka(codec: Codec, level: int | None) -> None:
    """As the settings compression.*.level have them."""
    assert compress(codec, SAMPLE) == compress(codec, SAMPLE, level=level)


@pytest.mark.parametrize("codec", CODECS)
def test_a_payload_cut_short_is_corrupt(codec: Codec) -> None:
    """Whatever is missing, the error is CORRUPT_MESSAGE and nothing else."""
    data = compress(codec, SAMPLE[:300] * 3)

    for length in range(1, len(data), 7):
        if codec is Codec.SNAPPY and length == 16:
            continue  # The framing alone, with no block: empty.
        with pytest.raises(KafkaError) as caught:
            decompress(codec, data[:length])
        assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", CODECS)
def test_garbage_is_corrupt(codec: Codec) -> None:
    """Bytes that no compressor wrote."""
    with pytest.raises(KafkaError) as caught:
        decompress(codec, b"\xff" * 50)

    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


def test_a_codec_that_does_not_exist_is_unsupported() -> None:
    """Ids 5 to 7 mean nothing in Kafka."""
    for work in (compress, decompress):
        with pytest.raises(KafkaError) as caught:
            work(5, b"x")
        assert caught.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
