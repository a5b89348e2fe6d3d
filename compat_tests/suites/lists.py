"""The lists of a suite: which tests are excluded or known to fail, each with its reason.

Read by `plugin`, `definition` and `judgement`. A name ending in `*` stands for every test it begins.
Source: README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping


def matches(listed: str, test: str) -> bool:
    """Tell if a listed name stands for this test."""
    return test.startswith(listed[:-1]) if listed.endswith("*") else test == listed


def reason_for(listed: Mapping[str, str], test: str) -> str | None:
    """Give the reason of the first listed name that stands for this test; None if there is none."""
    return next((reason for name, reason in listed.items() if matches(name, test)), None)
