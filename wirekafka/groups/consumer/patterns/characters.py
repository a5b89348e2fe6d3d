"""Which characters of topic names an expression means by a range, a class or a Unicode property.

Asked by `parsing` and `classes`. Of Unicode's many properties few say anything about the 65 characters of
topic names; the others are known by name, and are empty here.

Source: RE2's syntax; Unicode's general categories and scripts, as far as RE2/J 1.8 has them.
"""

import string
from functools import lru_cache

from wirekafka.groups.consumer.patterns.tree import TOPIC_CHARACTERS

Characters = frozenset[str]

LETTERS = frozenset(string.ascii_letters)
DIGITS = frozenset(string.digits)
WORD = LETTERS | DIGITS | {"_"}
NONE: Characters = frozenset()

PERL: dict[str, Characters] = {"d": DIGITS, "w": WORD, "s": NONE}
"""By the letter of their escape; the capital letter means all others."""

POSIX: dict[str, Characters] = {
    "alnum": LETTERS | DIGITS,
    "alpha": LETTERS,
    "ascii": TOPIC_CHARACTERS,
    "blank": NONE,
    "cntrl": NONE,
    "digit": DIGITS,
    "graph": TOPIC_CHARACTERS,
    "lower": frozenset(string.ascii_lowercase),
    "print": TOPIC_CHARACTERS,
    "punct": frozenset("._-"),
    "space": NONE,
    "upper": frozenset(string.ascii_uppercase),
    "word": WORD,
    "xdigit": frozenset(string.hexdigits),
}

_UNICODE: dict[str, Characters] = {
    "Any": TOPIC_CHARACTERS,
    "L": LETTERS,
    "Ll": POSIX["lower"],
    "Lu": POSIX["upper"],
    "N": DIGITS,
    "Nd": DIGITS,
    "P": POSIX["punct"],
    "Pc": frozenset("_"),
    "Pd": frozenset("-"),
    "Po": frozenset("."),
    "Latin": LETTERS,
    "Common": TOPIC_CHARACTERS - LETTERS,
}

_OTHER_CATEGORIES = """
    C Cc Cf Co Cs Lm Lo Lt M Mc Me Mn Nl No Pe Pf Pi Ps S Sc Sk Sm So Z Zl Zp Zs
"""

_OTHER_SCRIPTS = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid
    Canadian_Aboriginal Carian Cham Cherokee Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari
    Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew
    Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada
    Katakana Kayah_Li Kharoshthi Khmer Lao Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic
    Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian
    Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic Samaritan Saurashtra Shavian Sinhala Sundanese
    Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh
    Ugaritic Unknown Vai Yi
"""

_EMPTY = frozenset((_OTHER_CATEGORIES + _OTHER_SCRIPTS).split())

_FOLDED_FROM_AFAR = {"k": "\u212a", "s": "\u017f"}
"""The Kelvin sign and the long s are k and s to an expression that ignores case."""


def unicode_property(name: str) -> Characters | None:
    """Give the characters of a general category or a script; None when there is no such."""
    return _UNICODE.get(name, NONE if name in _EMPTY else None)


@lru_cache(maxsize=512)
def between(low: int, high: int, *, ignore_case: bool) -> Characters:
    """Give the characters from one code point to another, both included."""
    if not ignore_case:
        return frozenset(one for one in TOPIC_CHARACTERS if low <= ord(one) <= high)
    return frozenset(
        one for one in TOPIC_CHARACTERS if any(low <= ord(other) <= high for other in _same_but_for_case(one))
    )


def _same_but_for_case(character: str) -> str:
    lower = character.lower()
    return lower + character.upper() + _FOLDED_FROM_AFAR.get(lower, "")


def in_any_case(characters: Characters) -> Characters:
    """Add the other case of every letter."""
    return frozenset(one.swapcase() for one in characters) | characters
