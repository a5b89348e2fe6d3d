"""The tables in the documents that are made from the code.

    python -m tests.house.tables --write

puts them between their markers in README.md and docs/running.md; tests/house/test_house.py holds the
documents to them. Without --write it says which are out of date.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from wirekafka.handlers import HANDLERS
from wirekafka.metadata.configs import BROKER_CONFIGS, PROFILES

ROOT = Path(__file__).parents[2]


def served() -> str:
    """Every request that is served, with the versions that are advertised."""
    lines = ["| request | key | versions |", "| --- | ---: | --- |"]
    for key in sorted(HANDLERS):
        api = HANDLERS[key].api
        lines.append(f"| {api.name} | {key} | {api.advertised.oldest}-{api.advertised.newest} |")
    return "\n".join(lines)


def profile() -> str:
    """Every setting whose default in the dev profile is not Kafka's."""
    lines = ["| setting | Kafka | dev |", "| --- | --- | --- |"]
    for name, value in PROFILES["dev"].items():
        definition = BROKER_CONFIGS[name]
        default = definition.format(definition.default)
        if value != default:
            lines.append(f"| `{name}` | {_cell(default)} | {_cell(value)} |")
    return "\n".join(lines)


TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "served": (ROOT / "README.md", served),
    "profile": (ROOT / "docs" / "running.md", profile),
}
"""The name in the markers, the document and what makes the table."""


def in_document(name: str) -> str:
    """The table that stands in the document."""
    path, _ = TABLES[name]
    return _between(name).search(path.read_text(encoding="utf-8"))["table"]  # type: ignore[index]


def write(name: str) -> None:
    """Put the table of today into the document."""
    path, make = TABLES[name]
    text = path.read_text(encoding="utf-8")
    made = _between(name).sub(lambda found: f"{found['begin']}{make()}\n{found['end']}", text)
    path.write_text(made, encoding="utf-8")


def main(arguments: list[str]) -> int:
    stale = [name for name, (_, make) in TABLES.items() if in_document(name).strip() != make()]
    if "--write" in arguments:
        for name in stale:
            write(name)
        sys.stdout.write(f"written: {', '.join(stale) or 'nothing, all are up to date'}\n")
        return 0
    sys.stdout.write(f"out of date: {', '.join(stale) or 'none'}\n")
    return 1 if stale else 0


def _between(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<begin><!-- {name}: begin[^\n]*-->\n)(?P<table>.*?)(?P<end><!-- {name}: end -->)", re.DOTALL
    )


def _cell(value: str | None) -> str:
    return "(none)" if value is None else f"`{value}`"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
