"""Reading, writing and refusing values."""

import pytest

from wirekafka.metadata.configs.checks import Check, at_least, entries
from wirekafka.metadata.configs.definition import (
    ConfigDefinition,
    ConfigError,
    ConfigType,
    ConfigValue,
    table,
)


def of(kind: str, check: Check | None = None) -> ConfigDefinition:
    return ConfigDefinition("a.b", ConfigType[kind], None, check)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("BOOLEAN", " TRUE ", True),
        ("BOOLEAN", "false", False),
        ("INT", "+7", 7),
        ("INT", " -2147483648 ", -(2**31)),
        ("SHORT", "32767", 32767),
        ("LONG", "9223372036854775807", 2**63 - 1),
        ("DOUBLE", "0.5", 0.5),
        ("DOUBLE", ".5e1", 5.0),
        ("STRING", " a b ", "a b"),
        ("PASSWORD", " x ", "x"),
        ("CLASS", "org.X", "org.X"),
        ("LIST", "", ()),
        ("LIST", " a , b,c ", ("a", "b", "c")),
        ("LIST", "a,b,a", ("a", "b", "a")),
        ("LIST", "a,,b", ("a", "", "b")),
    ],
)
def test_text_becomes_a_typed_value(kind: str, text: str, value: ConfigValue) -> None:
    """Kafka's ConfigDef.parseType: trimmed, typed."""
    assert of(kind).parse(text) == value
    assert type(of(kind).parse(text)) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "allowed"),
    [
        ("BOOLEAN", "yes", "true or false"),
        ("INT", "2147483648", "a 32-bit integer"),
        ("INT", "1_000", "a 32-bit integer"),
        ("INT", "1.0", "a 32-bit integer"),
        ("INT", "", "a 32-bit integer"),
        ("INT", "٣", "a 32-bit integer"),
        ("INT", "9" * 5000, "a 32-bit integer"),
        ("SHORT", "32768", "a 16-bit integer"),
        ("LONG", "9223372036854775808", "a 64-bit integer"),
        ("DOUBLE", "half", "a number"),
        ("DOUBLE", "1e999", "a number"),
        ("DOUBLE", "nan", "a number"),
    ],
)
def test_ill_typed_text_is_refused_with_name_value_and_what_is_allowed(
    kind: str, text: str, allowed: str
) -> None:
    """The message says all that is needed to mend it."""
    with pytest.raises(ConfigError) as caught:
        of(kind).parse(text)

    assert caught.value.name == "a.b"
    assert str(caught.value) == f"Invalid value {text} for configuration a.b: must be {allowed}."


def test_check_refuses_in_its_own_words() -> None:
    """Type first, then the check."""
    with pytest.raises(ConfigError, match=r"Invalid value 0 for configuration a.b: must be at least 1\."):
        of("INT", at_least(1)).parse("0")


def test_secret_is_not_in_the_message() -> None:
    """An error text goes to logs and clients."""
    assert "hush" not in str(of("PASSWORD").refusal("hush", "longer"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (True, "true"),
        (False, "false"),
        (5, "5"),
        (0.5, "0.5"),
        (0.0, "0.0"),
        (1e7, "1.0E7"),
        (1.25e-4, "1.25E-4"),
        (-3e9, "-3.0E9"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        ((), ""),
        (("a", "b"), "a,b"),
        ("x", "x"),
    ],
)
def test_value_is_written_as_java_writes_it(value: ConfigValue, text: str | None) -> None:
    """ConfigDef.convertToString and Double.toString."""
    assert of("STRING").format(value) == text


def test_setting_without_effect_says_so() -> None:
    """One sentence, the same for all of them."""
    assert "no effect in wirekafka" in of("INT").documentation


def test_name_stands_once_in_a_table() -> None:
    """A double is our own mistake."""
    with pytest.raises(AssertionError, match="defined twice"):
        table(of("INT"), of("LONG"))


def test_entry_that_stands_twice_counts_once_where_the_check_says_so() -> None:
    """Else a list is as it was given."""
    once = ConfigDefinition("name", ConfigType.LIST, (), entries())

    assert once.parse("a,b,a") == ("a", "b")
    assert of("LIST").parse("a,b,a") == ("a", "b", "a")
