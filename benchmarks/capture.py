"""What a capture adds to a call of dspy: `python benchmarks/capture.py [CALLS]`, with dspy installed.

Blocks of calls with and without a capture take turns, so that what else the machine does hits both. A scripted model
answers at once; a call has four demos and prompts of about 7,000 characters. The figure to look at is the median of
what is added; CPU time is that of the calling thread.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import dspy
from dspy.utils.callback import with_callbacks

from workbench.capture import Capture
from workbench.capture.in_your_process import attaching

BLOCK = 500
REPLY = "[[ ## answer ## ]]\nfine, " + "word " * 100 + "\n\n[[ ## completed ## ]]"


class Scripted(dspy.LM):
    """Answers at once, and tells dspy's callbacks of it."""

    def __init__(self) -> None:
        super().__init__("openai/gpt-4o-mini", cache=False)

    @with_callbacks
    def __call__(self, prompt: Any = None, messages: Any = None, **params: Any) -> list[str]:
        return [REPLY]


def block(ask: Any, first: int) -> list[tuple[float, float]]:
    """Seconds and CPU seconds of each call."""
    found = []
    for number in range(first, first + BLOCK):
        start, cpu = time.perf_counter(), time.thread_time()
        ask(context=["passage " * 50] * 4, question=f"number {number}?")
        found.append((time.perf_counter() - start, time.thread_time() - cpu))
    return found


def milliseconds(found: list[tuple[float, float]], which: int, percent: int) -> float:
    return statistics.quantiles([one[which] for one in found], n=100)[percent - 1] * 1_000


def main(calls: int) -> None:
    dspy.configure(lm=Scripted())
    ask = dspy.Predict("context: list[str], question -> answer")
    ask.demos = [dspy.Example(context=["c" * 400], question=f"q{one}", answer="a" * 200) for one in range(4)]
    plain: list[tuple[float, float]] = []
    captured: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        listener = Capture(folder)
        block(ask, 0)
        for first in range(0, calls, BLOCK):
            plain += block(ask, first)
            attaching.attach(listener)
            captured += block(ask, first)
            attaching.detach(listener)
        start = time.perf_counter()
        listener.close()
        waited = time.perf_counter() - start
    shape: dict[str, Any] = {"dspy": dspy.__version__, "calls": len(captured)}
    for name, found in (("plain", plain), ("captured", captured)):
        shape[name] = {"median_ms": milliseconds(found, 0, 50), "p95_ms": milliseconds(found, 0, 95)}
        shape[name]["cpu_median_ms"] = milliseconds(found, 1, 50)
    shape["added_median_ms"] = shape["captured"]["median_ms"] - shape["plain"]["median_ms"]
    shape["added_cpu_median_ms"] = shape["captured"]["cpu_median_ms"] - shape["plain"]["cpu_median_ms"]
    shape |= {"waited_at_the_end_s": waited, "load": os.getloadavg()[0]}
    print(json.dumps(shape, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
