"""A figure with its target, and how it is said. What every question of `log.py` gives back."""

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value: the median of `samples`. `target` is None for what is only told."""

    name: str
    samples: Sequence[float]
    target: float | None = None
    at_most: bool = False
    """Whether the target is the most it may be; else it is the least."""
    unit: str = ""
    detail: str = ""

    @property
    def value(self) -> float:
        return statistics.median(self.samples)

    @property
    def missed(self) -> bool:
        if self.target is None:
            return False
        return self.value > self.target if self.at_most else self.value < self.target

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        spread = f"{min(self.samples):.2f} to {max(self.samples):.2f}, {len(self.samples)} runs"
        words = [f"{self.name:<44} {self.value:8.2f}{unit}  ({spread})"]
        if self.target is not None:
            word = "at most" if self.at_most else "at least"
            words.append(f"{word} {self.target:g}{unit}: {'MISSED' if self.missed else 'met'}")
        if self.detail:
            words.append(self.detail)
        return "   ".join(words)


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Run by run: both of a pair were measured one right after the other."""
    return [a / b for a, b in zip(above, below, strict=True)]


def progress(text: str) -> None:
    print(f"  {text}", flush=True)


def report(figures: Sequence[Figure]) -> None:
    """Say all figures; end with status 1 when one has missed its target."""
    for figure in figures:
        print(figure)
    if any(figure.missed for figure in figures):
        sys.exit(1)
