"""Tests of protocol/apis/__init__.py: the table and the folder agree."""

import importlib
import pkgutil
from types import ModuleType

import pytest

from wirekafka.protocol import apis
from wirekafka.protocol.api import Api
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.apis.produce import PRODUCE
from wirekafka.protocol.message import Message, Versions

FILES = [name for _, name, _ in pkgutil.iter_modules(apis.__path__)]


def load(file: str) -> ModuleType:
    return importlib.import_module(f"{apis.__name__}.{file}")


@pytest.mark.parametrize("file", FILES)
def test_file_holds_one_api_which_is_in_the_table(file: str) -> None:
    """A file that is forgotten in the explicit list would never be served."""
    found = [value for value in vars(load(file)).values() if isinstance(value, Api)]

    assert len(found) == 1
    assert APIS[found[0].key] is found[0]
    assert getattr(load(file), file.upper()) is found[0]


def test_table_has_nothing_beyond_the_files() -> None:
    """One file, one entry."""
    assert len(APIS) == len(FILES)


def test_table_is_in_the_order_of_its_keys() -> None:
    """ApiVersions answers in this order."""
    assert list(APIS) == sorted(APIS)
    assert all(key == api.key for key, api in APIS.items())


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_request_and_response_are_a_pair(api: Api[Message, Message]) -> None:
    """Same name, same versions, flexible from the same version on."""
    assert api.request.__name__ == f"{api.name}Request"
    assert api.response.__name__ == f"{api.name}Response"
    assert api.request.versions == api.response.versions
    assert api.request.flexible == api.response.flexible


@pytest.mark.parametrize("file", FILES)
def test_file_names_its_key_and_says_what_each_version_brought(file: str) -> None:
    """House style: schema files list their versions, a line each, and their source."""
    api, text = getattr(load(file), file.upper()), load(file).__doc__ or ""

    assert text.startswith(f"Key {api.key}, {api.name}: ")
    assert [v for v in api.versions.as_range() if f"\nv{v}: " not in text] == []
    assert "\nSource: " in text


def test_produce_advertises_version_zero() -> None:
    """Old librdkafka takes a higher minimum to mean no known message format (KAFKA-18659)."""
    assert PRODUCE.advertised == Versions(0, 13)
    assert PRODUCE.versions == Versions(3, 13)
