"""A figure with its target, and whether it is met. The questions make them, `text` and `page` tell them."""

import statistics
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


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Run by run: both of a pair were measured one right after the other."""
    return [a / b for a, b in zip(above, below, strict=True)]
