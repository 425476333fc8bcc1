"""What may be concluded from shares: an interval for one, an exact test for two, how many cases would be needed.

The unit is the case. Two columns answer the same cases, so a pair is compared case by case; repeats of a case make
its share finer and count as no further case.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

LEVEL = 0.05
"""The chance of calling two columns different that are not."""
POWER = 0.8
"""The chance of finding a difference that is there, for which the number of cases is given."""
MOST_STEPS = 20_000_000
"""What the exact test may take, some seconds. Beyond (thousands of cases, or hundreds with unequal repeats) the sum of
so many differences is taken as normally distributed, with the variance that it really has."""


@dataclass(frozen=True)
class Interval:
    """Where a share lies, from 0 to 1, at the confidence it was made for."""

    low: float
    high: float


def wilson(successes: int, runs: int, confidence: float = 0.95) -> Interval:
    """The interval of Wilson (1927) for a share of `runs`; 0 to 1 where nothing ran.

    Unlike the textbook's, it stays within 0 and 1 and has a width at 0 and at all.

    >>> wilson(19, 20).low > 0.76, wilson(0, 0)
    (True, Interval(low=0.0, high=1.0))
    """
    if not 0 <= successes <= runs:
        raise ValueError(f"{successes} of {runs} is no share")
    if runs == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / runs
    middle = share + z * z / (2 * runs)
    half = z * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    whole = 1 + z * z / runs
    low = 0.0 if successes == 0 else (middle - half) / whole
    high = 1.0 if successes == runs else (middle + half) / whole
    return Interval(low, high)


def paired_p(differences: Sequence[Fraction]) -> float:
    """The two-sided p-value of the paired differences of shares, one a case: Fisher's exact sign-flipping test.

    If the two columns do not differ, each case's difference may as well have had the other sign; the p-value is the
    share of all ways to choose the signs whose sum is at least as far from 0. With one run a case this is McNemar's
    exact test, which is the sign test of the cases in which one alone succeeded.
    """
    sizes = [abs(one) for one in differences if one]
    if not sizes:
        return 1.0
    unit = math.lcm(*[one.denominator for one in sizes])
    total = float(sum(sizes, Fraction(0)) * unit)
    if 2 * total * len(sizes) > MOST_STEPS:
        deviation = math.sqrt(sum(one * one for one in sizes))
        return math.erfc(abs(float(sum(differences))) / deviation / math.sqrt(2))
    found = abs(sum(differences, Fraction(0))) * unit
    ways = _ways(Counter(int(one * unit) for one in sizes))
    extreme: int = sum(count for sum_, count in ways.items() if abs(sum_) >= found)
    return float(Fraction(extreme, 2 ** len(sizes)))


def _ways(sizes: Mapping[int, int]) -> dict[int, int]:
    """How many choices of signs give each sum. `sizes` says how many cases differ by how much."""
    ways = {0: 1}
    for size, count in sizes.items():
        signs = {size * (2 * plus - count): math.comb(count, plus) for plus in range(count + 1)}
        further: dict[int, int] = {}
        for before, many in ways.items():
            for change, choices in signs.items():
                sum_ = before + change
                further[sum_] = further.get(sum_, 0) + many * choices
        ways = further
    return ways


def cases_needed(differences: Sequence[Fraction], level: float = LEVEL, power: float = POWER) -> int | None:
    """About how many cases would tell the two apart if they differed as in these; None where they do not differ.

    Rule: Connor (1987) for paired shares, `(z(1-level/2)·√ψ + z(power)·√(ψ-δ²))² / δ²` with δ the mean and ψ the mean
    square of the differences (with one run a case, ψ is the share of cases in which one alone succeeded).
    """
    if not differences or not sum(differences):
        return None
    delta = float(sum(differences)) / len(differences)
    spread = float(sum(one * one for one in differences)) / len(differences)
    certain, found = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(power)
    needed = (certain * math.sqrt(spread) + found * math.sqrt(max(0.0, spread - delta * delta))) ** 2 / delta**2
    return math.ceil(needed)


def adjusted(values: Sequence[float]) -> list[float]:
    """P-values for several tests at once after Holm (1979): calling those up to `LEVEL` different errs in one test of
    them all with at most that chance.

    >>> adjusted([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    result = [1.0] * len(values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - rank) * values[place]))
        result[place] = highest
    return result


@dataclass(frozen=True)
class Share:
    """How many runs of one case had what is asked about."""

    successes: int
    runs: int

    @property
    def as_fraction(self) -> Fraction:
        return Fraction(self.successes, self.runs)


@dataclass(frozen=True)
class Difference:
    """Two columns on the cases that both have run: shares of the same case stand at the same place.

    `p` is exact; `p_adjusted` the same among all pairs that are told together.
    """

    first: tuple[Share, ...]
    second: tuple[Share, ...]
    p: float
    p_adjusted: float
    level: float = LEVEL
    """What `p` itself must reach where several pairs are told together."""

    @property
    def is_certain(self) -> bool:
        """Whether one may say that they differ."""
        return self.p_adjusted <= LEVEL

    @property
    def _by_case(self) -> list[Fraction]:
        return [one.as_fraction - two.as_fraction for one, two in zip(self.first, self.second, strict=True)]

    @property
    def better(self) -> tuple[int, int]:
        """In how many cases the first did better, and in how many the second."""
        return sum(1 for one in self._by_case if one > 0), sum(1 for one in self._by_case if one < 0)

    @property
    def mean(self) -> float:
        """The mean difference of the shares, the first less the second; 0 without cases."""
        return float(sum(self._by_case)) / len(self.first) if self.first else 0.0

    @property
    def needed(self) -> int | None:
        """See `cases_needed`; more where several pairs are told together."""
        return cases_needed(self._by_case, self.level)


def compare(pairs: Sequence[tuple[Sequence[Share], Sequence[Share]]]) -> list[Difference]:
    """Pairs of columns that are told together, each given by the shares of the same cases in the same order."""
    values = [
        paired_p([one.as_fraction - two.as_fraction for one, two in zip(first, second, strict=True)])
        for first, second in pairs
    ]
    return [
        Difference(tuple(first), tuple(second), p, holm, LEVEL / len(pairs))
        for (first, second), p, holm in zip(pairs, values, adjusted(values), strict=True)
    ]
