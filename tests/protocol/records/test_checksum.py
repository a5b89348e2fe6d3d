"""Tests of protocol/records/checksum.py."""

import subprocess
import sys

import crc32c as package

from wirekafka.protocol.records import checksum


def run(code: str) -> str:
    """Run Python in a process of its own, where nothing has been imported yet; give what it prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_check_value_of_the_catalogues_comes_out() -> None:
    """CRC-32C of "123456789" is e3069283 (RFC 3720 has the polynomial, every catalogue the value)."""
    assert checksum.crc32c(b"123456789") == 0xE3069283


def test_it_goes_on_from_what_stands_before_and_is_the_package_s() -> None:
    """The second argument is the checksum so far, as in the package."""
    data = bytes(range(256)) * 5

    assert checksum.crc32c(data[100:], checksum.crc32c(data[:100])) == package.crc32c(data)


def test_the_package_is_not_imported_for_it() -> None:
    """Its __init__ brings argparse, email and zipfile, for a command line that no broker has."""
    code = (
        "import sys; from wirekafka.protocol.records import checksum;"
        "print(hex(checksum.crc32c(b'123456789')), sorted(sys.modules.keys() & {'crc32c', 'argparse'}))"
    )

    assert run(code) == "0xe3069283 []\n"


def test_the_package_is_imported_where_its_extension_is_not_found_by_itself() -> None:
    """A package that is put together otherwise serves as well."""
    code = (
        "import sys; from importlib.machinery import PathFinder; find = PathFinder.find_spec;"
        "PathFinder.find_spec = lambda name, *rest: None if name == '_crc32c' else find(name, *rest);"
        "from wirekafka.protocol.records import checksum;"
        "print(hex(checksum.crc32c(b'123456789')), 'crc32c' in sys.modules)"
    )

    assert run(code) == "0xe3069283 True\n"


def test_who_has_imported_the_package_shares_it() -> None:
    """In a test process that uses crc32c itself there is one of it."""
    code = (
        "import crc32c; from wirekafka.protocol.records import checksum;"
        "print(checksum.crc32c is crc32c.crc32c)"
    )

    assert run(code) == "True\n"
