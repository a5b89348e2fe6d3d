"""groups/consumer/patterns/parsing.py: groups, alternatives, repetitions, and what is refused."""

import pytest

from wirekafka.groups.consumer.patterns.parsing import DEEPEST_GROUP, MOST_CHARACTERS, parse
from wirekafka.groups.consumer.patterns.tree import Choice, Invalid, OneOf, Place, Repetition, Sequence

A, B, K = (OneOf(frozenset(characters)) for characters in ("a", "b", "kK"))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        ("", Sequence(())),
        ("ab", Sequence((A, B))),
        ("a|b", Choice((A, B))),
        ("(a|b)a", Sequence((Choice((A, B)), A))),
        ("a*", Repetition(A, 0, None)),
        ("a+?", Repetition(A, 1, None)),
        ("a?", Repetition(A, 0, 1)),
        ("a{2}", Repetition(A, 2, 2)),
        ("a{2,}", Repetition(A, 2, None)),
        ("a{2,3}", Repetition(A, 2, 3)),
        ("a{0}", Repetition(A, 0, 0)),
        ("^a$", Sequence((Place.BEGIN, A, Place.END))),
        (r"\A\z\b\B", Sequence((Place.BEGIN, Place.END, Place.WORD_BOUNDARY, Place.NO_WORD_BOUNDARY))),
        (r"\Qab\E*", Sequence((A, Repetition(B, 0, None)))),
        (r"\Qab", Sequence((A, B))),
        ("(?:a)(?P<n>b)(?<m>a)", Sequence((A, B, A))),
        ("(?i)k", K),
        ("abba", Sequence((A, B, B, A))),
        ("ab*", Sequence((A, Repetition(B, 0, None)))),
        ("(?i:k)b", Sequence((K, B))),
        ("((?i)k)b", Sequence((K, B))),
        ("(?i)(?-i)ab", Sequence((A, B))),
        ("(?smU)a", A),
        (r"\x61", A),
        ("[a]", A),
        (r"\d", OneOf(frozenset("0123456789"))),
    ],
)
def test_an_expression_is_read(text: str, tree: object) -> None:
    """The syntax of RE2."""
    assert parse(text) == tree


@pytest.mark.parametrize("text", ["a{", "a{,2}", "a{02}", "a{x}"])
def test_a_brace_that_counts_nothing_is_meant_itself(text: str) -> None:
    """No topic has it in its name, so nothing matches."""
    tree = parse(text)

    assert isinstance(tree, Sequence)
    assert tree.parts[1] == OneOf(frozenset())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", "missing closing )"),
        ("a)b", "unexpected ) at character 2"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("(?i)+", "missing argument to repetition operator: `+`"),
        ("{2}", "missing argument to repetition operator: `{2}`"),
        ("a**", "invalid nested repetition operator: `*`"),
        ("a{2}{3}?", "invalid nested repetition operator: `{3}?`"),
        ("{*", "invalid nested repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{1001,}", "invalid repeat count: `{1001,}`"),
        ("a{2,1}", "invalid repeat count: `{2,1}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?i-)", "invalid or unsupported Perl syntax: `(?i`"),
        ("(?<=a)", "invalid named capture: `(?<=a)`"),
        ("(?P<>a)", "invalid named capture: `(?P<>a)`"),
        ("(?P<n>a)(?<n>b)", "duplicate capture group name: `n`"),
        ("a{99999}", "invalid repeat count: `{99999}`"),
        ("a" * (MOST_CHARACTERS + 1), "it has 10001 characters, of 10000 at most"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\Z", r"invalid escape sequence: `\Z`"),
        ("(" * (DEEPEST_GROUP + 1), f"groups are nested deeper than {DEEPEST_GROUP}"),
    ],
)
def test_what_re2_refuses_is_refused(text: str, reason: str) -> None:
    """With RE2's words for it, as far as those say something."""
    with pytest.raises(Invalid) as refusal:
        parse(text)

    assert str(refusal.value) == reason


def test_a_count_of_thousands_of_digits_is_refused() -> None:
    """Python would not read it as a number."""
    for counts in ("{" + "9" * 5_000 + "}", "{1," + "9" * 5_000 + "}"):
        with pytest.raises(Invalid, match="invalid repeat count"):
            parse("a" + counts)
