"""The rules of the house that a machine can check.

Exceptions stand in lists with a reason each. A list only shrinks: what is no exception any more must
leave it, or its test fails.
"""

import ast
import configparser
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import tables
from wirekafka.handlers import ADVERTISED, HANDLERS
from wirekafka.protocol.apis import APIS
from wirekafka.protocol.codec import codec_for

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "wirekafka"
MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}

LONGEST_FILE_LINES = 400
LONGEST_FUNCTION_LINES = 60
MOST_POSITIONAL_ARGUMENTS = 5
BELOW_HANDLERS = ("broker/", "groups/", "metadata/", "storage/")
SOURCED = ("protocol/apis/", "handlers/", "groups/")

WITHOUT_SOURCE = {
    "handlers/context.py": "ours: no class of Kafka's has this part",
}
TESTED_TOGETHER = {
    "protocol/apis/": "tests/protocol/test_codec_agrees_with_construct.py",
    "protocol/stored/": "tests/protocol/test_codec_agrees_with_construct.py",
    "metadata/configs/broker_": "tests/metadata/configs/test_broker.py",
}
"""Tables of one kind, row by row in one test."""
WITHOUT_TEST_FILE = {
    "__main__.py": "one line, run by tests/cli/test_main.py",
    "machine.py": "types and a protocol, without behaviour of their own",
}
CATCHES_ALL = {
    "server/dispatch.py": "answers the client whatever happened, and logs it",
    "broker/firebreak.py": "keeps what is wrong with one log from ending the broker, and logs it",
    "testing/broker.py": "carries it from the broker's thread to the test's",
}
KAFKA_4_4 = {
    0: (0, 13),  # Produce
    1: (4, 18),  # Fetch
    2: (1, 11),  # ListOffsets
    3: (0, 13),  # Metadata
    8: (2, 10),  # OffsetCommit
    9: (1, 10),  # OffsetFetch
    10: (0, 6),  # FindCoordinator
    11: (0, 9),  # JoinGroup
    12: (0, 4),  # Heartbeat
    13: (0, 5),  # LeaveGroup
    14: (0, 5),  # SyncGroup
    15: (0, 6),  # DescribeGroups
    16: (0, 5),  # ListGroups
    18: (0, 5),  # ApiVersions
    19: (2, 7),  # CreateTopics
    20: (1, 6),  # DeleteTopics
    21: (0, 2),  # DeleteRecords
    22: (0, 5),  # InitProducerId
    23: (2, 4),  # OffsetForLeaderEpoch
    32: (1, 4),  # DescribeConfigs
    33: (0, 2),  # AlterConfigs
    37: (0, 3),  # CreatePartitions
    42: (0, 3),  # DeleteGroups
    44: (0, 1),  # IncrementalAlterConfigs
    47: (0, 0),  # OffsetDelete
    60: (0, 2),  # DescribeCluster
    68: (0, 1),  # ConsumerGroupHeartbeat
    69: (0, 1),  # ConsumerGroupDescribe
}
"""What Apache Kafka 4.4 answers to ApiVersions, of the keys that are served here."""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def docstring(name: str) -> str:
    return ast.get_docstring(TREES[name]) or ""


def test_no_file_is_longer_than_four_hundred_lines() -> None:
    """At that size a file holds two things, and needs a room."""
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}

    assert {name: count for name, count in lines.items() if count > LONGEST_FILE_LINES} == {}


def test_no_function_is_longer_than_sixty_lines() -> None:
    """Most have fewer than fifteen."""
    too_long = [
        f"{name}: {function.name} has {function.end_lineno - function.lineno + 1} lines"
        for name, tree in TREES.items()
        for function in functions(tree)
        if function.end_lineno and function.end_lineno - function.lineno >= LONGEST_FUNCTION_LINES
    ]

    assert too_long == []


def test_no_function_takes_more_than_five_positional_arguments() -> None:
    """After that they are named where they are given."""
    too_many = [
        f"{name}: {function.name}"
        for name, tree in TREES.items()
        for function in functions(tree)
        if positional(function) > MOST_POSITIONAL_ARGUMENTS and not is_command(function)
    ]

    assert too_many == []


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args.posonlyargs + function.args.args
    return len([argument for argument in arguments if argument.arg not in ("self", "cls")])


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether click calls it, which gives every argument by name."""
    return any(".command(" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_every_module_says_what_it_is() -> None:
    """The first line of every file is for the reader who has just opened it."""
    assert [name for name in MODULES if not docstring(name)] == []


def test_files_that_answer_to_kafka_name_their_source() -> None:
    """A KIP, a section of the protocol guide or a class of Kafka's: where to look when in doubt."""
    sourced = {name for name in MODULES if name.startswith(SOURCED) and not is_list_of_names(name)}
    missing = {name for name in sourced if "Source: " not in docstring(name)}

    assert missing == WITHOUT_SOURCE.keys()


def is_list_of_names(name: str) -> bool:
    """Whether a file only gathers what others hold."""
    return name.endswith("/__init__.py") and not list(functions(TREES[name]))


def has_test_file(name: str) -> bool:
    path = Path(name)
    return (ROOT / "tests" / path.parent / f"test_{path.stem}.py").exists()


def test_every_module_has_its_test_file() -> None:
    """tests/ mirrors the package one to one, so that a reader knows where to look."""
    missing = {
        name
        for name in MODULES
        if not name.endswith("__init__.py")
        and not name.startswith(tuple(TESTED_TOGETHER))
        and not has_test_file(name)
    }

    assert missing == WITHOUT_TEST_FILE.keys()


def test_what_is_tested_together_has_that_test() -> None:
    """And the prefix names files that are there."""
    for prefix, test in TESTED_TOGETHER.items():
        assert (ROOT / test).exists()
        assert any(name.startswith(prefix) for name in MODULES)


def test_no_test_file_is_without_its_module() -> None:
    """A module that was renamed takes its tests along."""
    other = {"bench", "house", "support", "stories", "torture"}
    strays = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        if not other & set(path.relative_to(ROOT).parts) and not is_of_a_module(path)
    ]

    assert sorted(strays) == sorted(OF_MANY_MODULES)


OF_MANY_MODULES = {
    "tests/groups/test_any_inputs_in_any_order.py": "both group machines, by Hypothesis",
    "tests/groups/test_every_state_and_input.py": "every state and input of the group machines",
    "tests/groups/test_every_state_and_input_of_consumers.py": "the same of the consumer protocol",
    "tests/groups/test_every_state_and_input_of_static_and_pending.py": "the same, and every deadline",
    "tests/groups/test_random_runs.py": "the group machines, by Hypothesis",
    "tests/groups/test_random_runs_of_twenty.py": "the group machines, by simulated clients",
    "tests/protocol/test_codec_agrees_with_construct.py": "both codecs of every message",
    "tests/server/test_bad_input.py": "all that a hostile peer may send",
    "tests/test_readme.py": "the examples of README.md",
}


def is_of_a_module(path: Path) -> bool:
    """Whether a test file is named for a module, or for a package whose __init__ it tests."""
    module = path.relative_to(ROOT / "tests").with_name(path.stem.removeprefix("test_") + ".py").as_posix()
    return module in MODULES or module.removesuffix(".py") + "/__init__.py" in MODULES


def test_versions_of_requests_end_at_the_handlers() -> None:
    """Below them a version is a named fact: no rule compares one with a number."""
    compared = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in TREES.items()
        if name.startswith(BELOW_HANDLERS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and compares_version_with_number(node)
    ]

    assert compared == []


def compares_version_with_number(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    names = [
        s.id if isinstance(s, ast.Name) else s.attr if isinstance(s, ast.Attribute) else "" for s in sides
    ]
    numbers = [s for s in sides if isinstance(s, ast.Constant) and isinstance(s.value, int)]
    return bool(numbers) and any("version" in name for name in names)


def test_only_a_few_places_catch_every_exception() -> None:
    """Elsewhere the narrowest type is caught, where it can be answered."""
    catching = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and catches_all(node)
    }

    assert catching == CATCHES_ALL.keys()


def catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or ast.unparse(handler.type) in ("Exception", "BaseException")


def test_every_handler_is_of_an_api_and_every_version_of_it_has_a_codec() -> None:
    """What is advertised can be read, and answered."""
    for key, handler in HANDLERS.items():
        assert APIS[key] is handler.api
        for version in handler.api.versions.as_range():
            assert codec_for(handler.api.request, version)
            assert codec_for(handler.api.response, version)


def test_what_is_advertised_is_what_kafka_4_4_serves() -> None:
    """Every version of every request that is served at all."""
    assert {key: (versions.oldest, versions.newest) for key, versions in ADVERTISED.items()} == KAFKA_4_4


@pytest.mark.parametrize("name", tables.TABLES)
def test_tables_in_the_documents_are_those_of_the_code(name: str) -> None:
    """`python -m tests.house.tables --write` brings them up to date."""
    _, make = tables.TABLES[name]

    assert tables.in_document(name).strip() == make()


def test_import_contracts_name_every_package_and_every_room_without_one() -> None:
    """A new package stands on a floor before it stands in the tree."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    floors = contracts["importlinter:contract:rooms"]["layers"].replace("|", " ").split()
    rooms = {
        path.stem for path in PACKAGE.iterdir() if (path / "__init__.py").exists() or path.suffix == ".py"
    }

    assert set(floors) == rooms - {"__init__"}
    assert contracts["importlinter:contract:rooms"]["exhaustive"] == "True"


@pytest.mark.parametrize(
    "contract", ["rooms", "handlers", "storage", "groups", "consumer", "classic", "broker", "server"]
)
def test_contracts_of_floors_are_exhaustive(contract: str) -> None:
    """A file without a floor fails the contract, rather than being free to import what it likes."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")

    assert contracts[f"importlinter:contract:{contract}"]["exhaustive"] == "True"


@pytest.mark.parametrize("contract", ["pure", "construct"])
def test_contracts_of_purity_name_every_room_they_are_about(contract: str) -> None:
    """Only server, broker, cli and testing know trio; only protocol knows construct."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    named = set(contracts[f"importlinter:contract:{contract}"]["source_modules"].split())
    rooms = {f"wirekafka.{path.name}" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    free = {
        "pure": {"server", "broker", "cli", "testing", "handlers"},
        "construct": {"protocol", "cli", "testing", "observability"},
    }[contract]

    assert rooms - named - {f"wirekafka.{room}" for room in free} == set()
