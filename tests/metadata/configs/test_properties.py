"""The .properties syntax."""

import pytest

from wirekafka.metadata.configs.definition import ConfigError
from wirekafka.metadata.configs.properties import parse_properties

CASES = {
    "equals": ("a=1", {"a": "1"}),
    "colon": ("a:1", {"a": "1"}),
    "blank": ("a 1", {"a": "1"}),
    "blanks around": ("  a \t = \f 1 2 ", {"a": "1 2 "}),
    "no value": ("a\nb=\nc:", {"a": "", "b": "", "c": ""}),
    "second separator": ("a==1\nb=:2\nc = = 3", {"a": "=1", "b": ":2", "c": "= 3"}),
    "url": ("l=PLAINTEXT://:9092", {"l": "PLAINTEXT://:9092"}),
    "comments": ("# x=1\n  ! y=2\n\n \t\na=#1", {"a": "#1"}),
    "continuation": ("a=1,\\\n    2,\\\r\n\t3\nb=4", {"a": "1,2,3", "b": "4"}),
    "continued comment": ("# x \\\na=1", {"a": "1"}),
    "comment sign in continuation": ("a=1\\\n#2", {"a": "1#2"}),
    "two backslashes": ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
    "three backslashes": ("a=1\\\\\\\n2", {"a": "1\\2"}),
    "continuation at the end": ("a=1\\", {"a": "1"}),
    "escaped separators": (r"a\=b\:c\ d=1", {"a=b:c d": "1"}),
    "escapes": (r"a=\t\n\r\f\q\\", {"a": "\t\n\r\fq\\"}),
    "unicode": (r"a=\u00e9\u4E2d", {"a": "é中"}),
    "line ends": ("a=1\rb=2\r\nc=3", {"a": "1", "b": "2", "c": "3"}),
    "last wins": ("a=1\na=2", {"a": "2"}),
    "nothing": ("", {}),
}


@pytest.mark.parametrize(("text", "pairs"), CASES.values(), ids=CASES.keys())
def test_file_is_read_as_java_reads_it(text: str, pairs: dict[str, str]) -> None:
    """java.util.Properties.load."""
    assert parse_properties(text) == pairs


@pytest.mark.parametrize("text", [r"a=\u12", r"a=\uwxyz", "a=\\u"])
def test_torn_unicode_escape_is_refused(text: str) -> None:
    """Java throws here too."""
    with pytest.raises(ConfigError, match="four hexadecimal digits"):
        parse_properties(text)
