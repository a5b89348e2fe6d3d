"""`Reader`: the text of an expression and how far it is read, with what both kinds of place have in common.

Used by `parsing` outside of brackets and by `classes` inside of them: escapes, and classes by name.

Source: RE2's syntax, with the limits and refusals of RE2/J 1.8.
"""

from wirekafka.groups.consumer.patterns.characters import (
    PERL,
    Characters,
    in_any_case,
    unicode_property,
)
from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS, Invalid

_CONTROLS = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_OCTAL = "01234567"
_HEXADECIMAL = "0123456789abcdefABCDEF"
_LAST_CODE_POINT = 0x10FFFF


class Reader:
    """Reads one expression from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.ignore_case = False

    @property
    def rest(self) -> bool:
        """Whether there is more to read."""
        return self.position < len(self.text)

    def sees(self, expected: str) -> bool:
        return self.text.startswith(expected, self.position)

    def take(self) -> str:
        self.position += 1
        return self.text[self.position - 1]

    def skip(self, expected: str) -> bool:
        """Read this if it is what comes next."""
        if not self.sees(expected):
            return False
        self.position += len(expected)
        return True

    def since(self, start: int) -> str:
        """Give what was read since `start`, as it is shown to people."""
        return f"`{self.text[start : self.position]}`"

    def named_class(self) -> Characters | None:
        r"""Read a class that an escape names, such as `\d` or `\pL`; None when none comes next."""
        kind = self.text[self.position + 1 : self.position + 2] if self.sees("\\") else ""
        if kind in ("p", "P"):
            return self._unicode_class()
        if not kind or kind.lower() not in PERL:
            return None
        self.position += 2
        found = self._folded(PERL[kind.lower()])
        return TOPIC_CHARACTERS - found if kind.isupper() else found

    def _unicode_class(self) -> Characters:
        start = self.position
        self.position += 1
        negated = self.take() == "P"
        name = self._unicode_name(start)
        if name.startswith("^"):
            name, negated = name[1:], not negated
        found = unicode_property(name)
        if found is None:
            raise Invalid(f"invalid character class range: {self.since(start)}")
        found = self._folded(found)
        return TOPIC_CHARACTERS - found if negated else found

    def _unicode_name(self, start: int) -> str:
        if not self.rest:
            raise Invalid(f"invalid character class range: {self.since(start)}")
        if not self.skip("{"):
            return self.take()
        end = self.text.find("}", self.position)
        if end < 0:
            self.position = len(self.text)
            raise Invalid(f"invalid character class range: {self.since(start)}")
        name = self.text[self.position : end]
        self.position = end + 1
        return name

    def _folded(self, characters: Characters) -> Characters:
        return in_any_case(characters) if self.ignore_case else characters

    def escaped(self) -> int:
        """Read an escape that stands for one character, and give its code point."""
        start = self.position
        self.position += 1
        if not self.rest:
            raise Invalid("trailing backslash at end of expression")
        kind = self.take()
        code = self._code_point(kind)
        if code is None or code > _LAST_CODE_POINT:
            raise Invalid(f"invalid escape sequence: {self.since(start)}")
        return code

    def _code_point(self, kind: str) -> int | None:
        if kind in _CONTROLS:
            return _CONTROLS[kind]
        if kind == "x":
            return self._hexadecimal()
        if kind in _OCTAL:
            return self._octal(kind)
        is_word = kind.isascii() and kind.isalnum()
        return None if is_word else ord(kind)

    def _octal(self, first: str) -> int | None:
        digits = first
        while len(digits) < 3 and self.rest and self.text[self.position] in _OCTAL:
            digits += self.take()
        # A lone digit but 0 would refer back to a group, which only backtracking can match.
        is_reference = len(digits) == 1 and first != "0"
        return None if is_reference else int(digits, 8)

    def _hexadecimal(self) -> int | None:
        braced = self.skip("{")
        most = len(self.text) if braced else 2
        digits = ""
        while len(digits) < most and self.rest and self.text[self.position] in _HEXADECIMAL:
            digits += self.take()
        is_whole = self.skip("}") if braced else len(digits) == 2
        return int(digits, 16) if digits and is_whole else None
