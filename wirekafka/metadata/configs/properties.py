"""Read the .properties syntax of Java, which server.properties is written in.

Called by `settings`. Source: the syntax of java.util.Properties.
"""

import re
from collections.abc import Iterator

from wirekafka.metadata.configs.definition import ConfigError

_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_BLANKS = " \t\f"
_UNICODE = re.compile(r"[0-9a-fA-F]{4}", re.ASCII)


def parse_properties(text: str) -> dict[str, str]:
    """Give the names and values of a file; the last of two equal names wins.

    Raises ConfigError for a \\u that is not followed by four hexadecimal digits.
    """
    pairs: dict[str, str] = {}
    for line in _logical_lines(text):
        name, value = _split(line)
        pairs[_unescape(name)] = _unescape(value)
    return pairs


def _logical_lines(text: str) -> Iterator[str]:
    """Drop comments and blank lines, and join lines that end in an odd number of backslashes."""
    pending = ""
    for natural in re.split(r"\r\n|\r|\n", text):
        line = natural.lstrip(_BLANKS)
        if not pending and (not line or line[0] in "#!"):
            continue
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
            continue
        yield pending + line
        pending = ""
    if pending:
        yield pending


def _split(line: str) -> tuple[str, str]:
    """Cut a line at its first unescaped `=`, `:` or blank."""
    position = 0
    while position < len(line) and line[position] not in "=:" + _BLANKS:
        position += 2 if line[position] == "\\" else 1
    rest = line[position:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:position], rest


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character != "\\" or position == len(text):
            out.append(character if character != "\\" else "")
            continue
        escaped = text[position]
        position += 1
        if escaped != "u":
            out.append(_ESCAPES.get(escaped, escaped))
            continue
        digits = _UNICODE.match(text, position)
        if digits is None:
            raise ConfigError(text, f"The escape \\u in {text!r} needs four hexadecimal digits.")
        out.append(chr(int(digits[0], 16)))
        position += 4
    return "".join(out)
