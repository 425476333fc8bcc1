"""Statistics for rates: confidence intervals, exact paired tests, required sample sizes.

The unit is the case. Two columns run the same cases, so they are compared case by case; repeats refine the share of a
case but do not count as more cases.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from random import Random
from statistics import NormalDist

from adapters.late_dataclasses import dataclass

LEVEL = 0.05
"""The significance level: the chance of calling equal columns different."""
POWER = 0.8
"""The chance of finding an existing difference with the required number of cases."""
MOST_STEPS = 4_000_000
"""The most steps of the exact test, about a second."""
MOST_ENUMERATED = 32
"""The most differing cases for which all choices of signs are enumerated, however uneven the differences."""

RESAMPLES = 2000
MOST_RESAMPLED = 200
"""The most cases to resample; with more, the bootstrap of a mean is replaced by its normal approximation."""


@dataclass(frozen=True)
class Share:
    """The successes among the runs of a case; or the sum of their scores, as a `Fraction`."""

    successes: int | Fraction
    runs: int

    @property
    def is_scored(self) -> bool:
        return isinstance(self.successes, Fraction)

    @property
    def as_fraction(self) -> Fraction:
        return Fraction(self.successes, self.runs)


@dataclass(frozen=True)
class Interval:
    """The confidence interval of a share (0 to 1) or of a difference (-1 to 1)."""

    low: float
    high: float


def wilson(successes: float, runs: float, confidence: float = 0.95) -> Interval:
    """Return the interval of Wilson (1927) for a share of `runs`; 0 to 1 without runs.

    Unlike the textbook (Wald) interval, it stays within 0 and 1 and has a width even for shares of 0 and 1.

    >>> wilson(19, 20).low > 0.76, wilson(0, 0)
    (True, Interval(low=0.0, high=1.0))
    """
    if not 0 <= successes <= runs:
        raise ValueError(f"{successes} of {runs}: expected successes from 0 to the number of runs")
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


def clustered(shares: Sequence[Share]) -> Interval:
    """Return Wilson's interval with the case as its unit, so that it applies to new cases.

    Repeats of a case may all succeed or all fail together, so they do not increase the number of units. If cases have
    different numbers of runs, the units are Kish's (1965): the squared sum of the runs over the sum of their squares.
    """
    runs = sum(one.runs for one in shares)
    if not runs:
        return Interval(0.0, 1.0)
    if any(one.is_scored for one in shares):
        means = [float(one.as_fraction) for one in shares]
        return bootstrap((*means, min(0.0, *means), max(1.0, *means)))
    units = runs**2 / sum(one.runs**2 for one in shares)
    share = float(sum(one.successes for one in shares)) / runs
    return wilson(units if share == 1 else share * units, units)


def difference_interval(differences: Sequence[Fraction], confidence: float = 0.95) -> Interval:
    """Return the interval of Agresti and Min (2005) for the mean of the cases' paired differences.

    It is Wald's interval after adding half a case to each of the four outcomes of a pair.
    """
    count = len(differences) + 2
    total = float(sum(differences))
    spread = float(sum(one * one for one in differences)) + 1 - total * total / count
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(spread) / count
    return Interval(max(-1.0, total / count - half), min(1.0, total / count + half))


def score_difference_interval(differences: Sequence[Fraction], confidence: float = 0.95) -> Interval:
    """Return the bootstrap interval for the mean of the cases' paired score differences.

    Adds two cases of opposite sign, with the spread that Agresti and Min add, so that the interval has a width even
    for few or equal differences.
    """
    values = [float(one) for one in differences]
    added = math.sqrt(0.5) * (max(map(abs, values), default=0.0) or 1.0)
    return bootstrap((*values, added, -added), confidence)


@lru_cache(maxsize=1024)
def bootstrap(values: tuple[float, ...], confidence: float = 0.95) -> Interval:
    """Return the bootstrap percentile interval of the mean of `values`, widened for small samples.

    It is widened as in Hesterberg (2015), so that normally distributed values get the width of Student's interval. The
    same values always give the same interval.
    """
    count = len(values)
    mean = math.fsum(values) / count
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    reach = (z + (z**3 + z) / (4 * (count - 1))) * math.sqrt(count / (count - 1))
    if count > MOST_RESAMPLED:
        half = reach * math.sqrt(math.fsum((one - mean) ** 2 for one in values)) / count
        return Interval(mean - half, mean + half)
    random = Random(0)
    means = sorted(math.fsum(random.choices(values, k=count)) / count for _ in range(RESAMPLES))
    outside = int(NormalDist().cdf(-reach) * RESAMPLES)
    return Interval(means[outside], means[-1 - outside])


def paired_p(differences: Sequence[Fraction]) -> float:
    """Return the two-sided p-value of paired differences of shares, by Fisher's exact sign-flipping test.

    If the columns do not differ, each case's difference could equally have the opposite sign; the p-value is the share
    of all choices of signs whose sum is at least as far from 0. With a single run per case this is McNemar's exact
    test: the sign test of the cases in which only one column succeeded.
    """
    return min(1.0, 2 * one_sided_p(differences))


def one_sided_p(differences: Sequence[Fraction]) -> float:
    """Return the one-sided p-value in the direction of the differences; 1 if they add up to nothing."""
    total = sum(differences, Fraction(0))
    if not total:
        return 1.0
    return upper_tail(differences if total > 0 else [-one for one in differences])


def upper_tail(differences: Sequence[Fraction]) -> float:
    """Return the one-sided p-value: the share of all choices of signs whose sum is at least the sum found.

    Exact up to `MOST_ENUMERATED` differing cases, and beyond that as long as `MOST_STEPS` suffice. Otherwise the sum is
    treated as normally distributed, with a p-value no smaller than the probability of a single choice of signs.
    """
    given = [one for one in differences if one]
    if not given:
        return 1.0
    unit = math.lcm(*[one.denominator for one in given])
    sizes = [abs(int(one * unit)) for one in given]
    found = int(sum(given, Fraction(0)) * unit)
    if 2 * sum(sizes) * len(sizes) <= MOST_STEPS:
        ways = _ways(sizes)
        return float(Fraction(sum(count for total, count in ways.items() if total >= found), 2 ** len(sizes)))
    if len(sizes) <= MOST_ENUMERATED:
        return _enumerated(sizes, found)
    deviation = math.sqrt(sum((size / unit) ** 2 for size in sizes))
    return max(math.erfc(found / unit / deviation / math.sqrt(2)) / 2, math.ldexp(1.0, -len(sizes)))


def _ways(sizes: Sequence[int]) -> dict[int, int]:
    """Count the choices of signs for each sum."""
    ways = {0: 1}
    for size, count in Counter(sizes).items():
        signs = {size * (2 * plus - count): math.comb(count, plus) for plus in range(count + 1)}
        further: dict[int, int] = {}
        for before, many in ways.items():
            for change, choices in signs.items():
                further[before + change] = further.get(before + change, 0) + many * choices
        ways = further
    return ways


def _enumerated(sizes: Sequence[int], found: int) -> float:
    """Return the one-sided p-value by combining the sums of half the cases with the sorted sums of the others."""
    halves = []
    for half in (sizes[::2], sizes[1::2]):
        sums = [0]
        for size in half:
            sums = [one + sign for one in sums for sign in (size, -size)]
        halves.append(sums)
    first, second = halves[0], sorted(halves[1])
    extreme = sum(len(second) - bisect_left(second, found - one) for one in first)
    return math.ldexp(extreme, -len(sizes))


def fisher(before: Share, now: Share) -> tuple[float, float]:
    """Return the one-sided p-value of Fisher's exact test that `now` is smaller, and the least possible p-value."""
    held = int(now.successes)
    successes, runs = int(before.successes) + held, before.runs + now.runs
    fewest = max(0, successes - before.runs)
    ways = [math.comb(now.runs, one) * math.comb(before.runs, successes - one) for one in range(fewest, held + 1)]
    every = math.comb(runs, successes)
    return float(Fraction(sum(ways), every)), float(Fraction(ways[0], every))


def tarone(least: Sequence[float], level: float) -> int:
    """Return the factor to correct several p-values after Tarone (1990); 0 if no test can reach `level`.

    `least` are the least possible p-values. Only tests that could reach the corrected level are counted.
    """
    among = 1
    while (many := sum(one <= level / among for one in least)) > among:
        among += 1
    return among if many else 0


def cases_needed(differences: Sequence[Fraction], level: float = LEVEL, mean: float | None = None) -> int | None:
    """Estimate how many cases would show the difference found in these; None if there is no difference.

    `mean` replaces the mean difference found.

    Rule: Connor (1987) for paired shares, `(z(1-level/2)·√ψ + z(POWER)·√(ψ-δ²))² / δ²` with δ the mean and ψ the mean
    square of the differences (with a single run per case, ψ is the share of cases in which only one column succeeded).
    """
    delta = float(sum(differences)) / max(1, len(differences)) if mean is None else mean
    if not differences or not delta:
        return None
    spread = float(sum(one * one for one in differences)) / len(differences)
    certain, found = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(POWER)
    needed = (certain * math.sqrt(spread) + found * math.sqrt(max(0.0, spread - delta * delta))) ** 2 / delta**2
    return math.ceil(needed)


def adjusted(values: Sequence[float]) -> list[float]:
    """Correct p-values of several tests after Holm (1979).

    If corrected values up to `LEVEL` count as differences, the chance of any error is at most `LEVEL`.

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
class Difference:
    """Two columns compared on their common cases; `first` and `second` list the shares in the same order.

    `p` is the result of `paired_p`; `p_adjusted` is corrected for all pairs of the same measure.
    """

    first: tuple[Share, ...]
    second: tuple[Share, ...]
    p: float
    p_adjusted: float
    level: float = LEVEL
    """The level for `p` itself: `LEVEL` divided by the number of pairs."""

    @property
    def is_certain(self) -> bool:
        return self.p_adjusted <= LEVEL

    @property
    def by_case(self) -> list[Fraction]:
        return [one.as_fraction - two.as_fraction for one, two in zip(self.first, self.second, strict=True)]

    @property
    def better(self) -> tuple[int, int]:
        """The number of cases in which the first did better, and in which the second did."""
        return sum(1 for one in self.by_case if one > 0), sum(1 for one in self.by_case if one < 0)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of `mean`."""
        return self._interval(0.95)

    def _interval(self, confidence: float) -> Interval:
        is_scored = any(one.is_scored for one in (*self.first, *self.second))
        return (score_difference_interval if is_scored else difference_interval)(self.by_case, confidence)

    @property
    def mean(self) -> float:
        """The mean of the first shares minus the second; 0 without cases."""
        return float(sum(self.by_case)) / len(self.first) if self.first else 0.0

    @property
    def needed(self) -> int | None:
        """The number of cases needed (`cases_needed`) at `level`."""
        return cases_needed(self.by_case, self.level)

    @property
    def needed_range(self) -> tuple[int, int | None] | None:
        """`needed` for both ends of the difference's 50 % interval; the upper is None if the interval includes 0."""
        if self.needed is None:
            return None
        half = self._interval(0.5)
        ends = [cases_needed(self.by_case, self.level, mean=one) or 0 for one in (half.low, half.high)]
        return min(self.needed, *ends), None if half.low <= 0 <= half.high else max(self.needed, *ends)


def compare(pairs: Sequence[tuple[Sequence[Share], Sequence[Share]]]) -> list[Difference]:
    """Compare pairs of columns, each given by the shares of the same cases in the same order."""
    values = [
        paired_p([one.as_fraction - two.as_fraction for one, two in zip(first, second, strict=True)])
        for first, second in pairs
    ]
    return [
        Difference(tuple(first), tuple(second), p, holm, LEVEL / len(pairs))
        for (first, second), p, holm in zip(pairs, values, adjusted(values), strict=True)
    ]
