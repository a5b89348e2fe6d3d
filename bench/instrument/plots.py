"""Plots as SVG, all in one style: by matplotlib, and where that is not installed not at all.

Called by `question`.
"""

from collections.abc import Sequence
from pathlib import Path

from instrument.answers import Plot


def draw(question: str, plots: Sequence[Plot], folder: Path) -> None:
    """Draw every plot into the folder."""
