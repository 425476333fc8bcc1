"""What work costs, so that a test can bound it on a machine of any speed, idle or not."""

from __future__ import annotations

import time
from collections.abc import Callable

LOOPS_A_SECOND = 30
"""How often the reference loop runs in a second of the machine that the bounds were measured on; a bound is a count."""


def loops(work: Callable[[], object], tries: int = 3) -> float:
    """The processor time that `work` takes, in runs of a reference loop timed right before and after it.

    Processor time does not count waiting for other programs, and a slow machine is slow at both. The least of several
    tries counts, for what disturbs a measurement only ever adds to it.
    """
    return min(_loops_of_one_try(work) for _ in range(tries))


def _loops_of_one_try(work: Callable[[], object]) -> float:
    before = _seconds(_reference_loop)
    cost = _seconds(work)
    return cost / max(before, _seconds(_reference_loop))


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _reference_loop() -> int:
    total = 0
    for number in range(1_000_000):
        total += number % 7
    return total
