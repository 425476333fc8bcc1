"""Intervals and p-values are those of scipy; where nothing differs, no more differences are found than is said."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
import scipy  # which imports its `stats` only when it is asked for

from sessions.bench import statistics
from sessions.bench.statistics import (
    LEVEL,
    MOST_STEPS,
    Difference,
    Interval,
    Share,
    adjusted,
    bootstrap,
    cases_needed,
    clustered,
    compare,
    difference_interval,
    fisher,
    paired_p,
    score_difference_interval,
    tarone,
    upper_tail,
    wilson,
)


def ones(only_first, only_second, both=0):
    return [Fraction(1)] * only_first + [Fraction(-1)] * only_second + [Fraction(0)] * both


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("runs", [1, 2, 7, 20, 113, 4000])
def test_an_interval_is_that_of_scipy(runs, confidence):
    for successes in sorted({0, 1, runs // 3, runs // 2, runs - 1, runs}):
        ours = wilson(successes, runs, confidence)
        theirs = scipy.stats.binomtest(successes, runs).proportion_ci(confidence, method="wilson")
        assert ours.low == pytest.approx(theirs.low, abs=1e-9)
        assert ours.high == pytest.approx(theirs.high, abs=1e-9)


def test_an_interval_of_nothing_says_nothing_and_an_impossible_share_is_refused():
    assert wilson(0, 0) == Interval(0.0, 1.0)
    for successes, runs in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="expected successes"):
            wilson(successes, runs)


@pytest.mark.parametrize(("only_first", "only_second"), itertools.product([0, 1, 3, 8, 20, 61], repeat=2))
def test_with_one_run_a_case_the_test_is_mcnemars_exact_one(only_first, only_second):
    different = only_first + only_second
    theirs = scipy.stats.binomtest(only_first, different, 0.5).pvalue if different else 1.0
    assert paired_p(ones(only_first, only_second, both=9)) == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def test_with_repeats_the_test_is_scipys_exact_permutation_test():
    draw = random.Random(7)
    for _ in range(40):
        count = draw.randint(2, 10)
        sizes = [draw.choice([1, 2, 3, 5, 10]) for _ in range(count)]
        pairs = [(Fraction(draw.randint(0, size), size), Fraction(draw.randint(0, size), size)) for size in sizes]
        differences = [one - two for one, two in pairs]
        scaled = np.array([float(one * 30) for one in differences])  # whole numbers: sums compare exactly
        theirs = scipy.stats.permutation_test(
            (scaled.round(),), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="two-sided"
        ).pvalue
        assert paired_p(differences) == pytest.approx(min(1.0, theirs), abs=1e-9)


def test_the_larger_of_two_columns_is_no_matter_of_their_order():
    draw = random.Random(3)
    for _ in range(50):
        differences = [Fraction(draw.randint(-10, 10), 10) for _ in range(15)]
        assert paired_p(differences) == paired_p([-one for one in differences])


@pytest.mark.parametrize("repeats", [1, 3, 10])
def test_under_no_difference_it_errs_no_more_often_than_it_says(repeats):
    draw = random.Random(repeats)
    trials, wrong = 2000, 0
    for _ in range(trials):
        chances = [draw.choice([0.2, 0.5, 0.9, 1.0]) for _ in range(20)]  # hard and easy cases, the same for both
        counts = [[sum(draw.random() < one for _ in range(repeats)) for one in chances] for _ in "ab"]
        differences = [Fraction(one - two, repeats) for one, two in zip(*counts, strict=True)]
        wrong += paired_p(differences) <= LEVEL
    most = scipy.stats.binom.ppf(1 - 1e-6, trials, LEVEL)  # of an honest test, one run of this in a million has more
    assert wrong <= most
    assert wrong > 0 or repeats == 1


def test_among_several_pairs_one_is_called_different_no_more_often_than_that():
    draw = random.Random(11)
    trials, wrong = 400, 0
    for _ in range(trials):
        columns = [[Share(int(draw.random() < 0.6), 1) for _ in range(40)] for _ in range(5)]
        wrong += any(one.is_certain for one in compare(list(itertools.combinations(columns, 2))))
    assert wrong <= scipy.stats.binom.ppf(1 - 1e-6, trials, LEVEL)


def test_a_correction_for_several_tests_never_makes_a_value_smaller_nor_changes_their_order():
    draw = random.Random(5)
    for count in (0, 1, 2, 30):
        values = [draw.random() ** 3 for _ in range(count)]
        after = adjusted(values)
        assert all(one <= two <= 1 for one, two in zip(values, after, strict=True))
        order = sorted(range(count), key=values.__getitem__)
        assert [after[place] for place in order] == sorted(after)
    assert adjusted([0.04]) == [0.04]


def test_as_many_cases_as_it_says_are_needed_find_the_difference_four_times_of_five():
    draw = random.Random(2)
    seen = ones(5, 2, both=13)
    needed = cases_needed(seen)
    trials = 400
    found = sum(paired_p(draw.choices(seen, k=needed)) <= LEVEL for _ in range(trials))
    assert 0.72 < found / trials < 0.9


def test_columns_that_did_the_same_need_no_number_of_cases():
    assert cases_needed([]) is None
    assert cases_needed(ones(4, 4, both=2)) is None
    assert cases_needed(ones(1, 0)) is not None


def test_a_pair_says_in_which_cases_either_was_better():
    first = [Share(3, 3), Share(1, 3), Share(2, 2)]
    second = [Share(1, 3), Share(2, 3), Share(3, 3)]
    (pair,) = compare([(first, second)])
    assert isinstance(pair, Difference)
    assert pair.better == (1, 1)
    assert pair.mean == pytest.approx((2 / 3 - 1 / 3) / 3)
    assert compare([([], [])])[0].mean == 0.0


def test_thousands_of_cases_with_unequal_repeats_are_no_matter_of_minutes():
    draw = random.Random(4)
    differences = []
    for _ in range(3000):
        one, two = draw.randint(1, 97), draw.randint(1, 89)
        differences.append(Fraction(draw.randint(0, one), one) - Fraction(draw.randint(0, two), two))
    assert 2 * 3000 * sum(abs(one) for one in differences) * 97 * 89 > MOST_STEPS
    assert 0 <= paired_p(differences) <= 1


def test_where_there_are_too_many_cases_the_p_value_is_that_of_a_normal_sum(monkeypatch):
    draw = random.Random(9)
    differences = [Fraction(draw.randint(-30, 36), 41) for _ in range(300)]
    exact = paired_p(differences)
    monkeypatch.setattr(statistics, "MOST_STEPS", 1)
    assert paired_p(differences) == pytest.approx(exact, rel=0.05)
    assert paired_p(differences) != exact


def test_few_cases_with_uneven_repeats_are_enumerated_and_p_is_never_below_what_they_allow():
    pairs = [(97, 89), (83, 79), (73, 71), (67, 61)]
    differences = [Fraction(one - 1, one) - Fraction(1, two) for one, two in pairs]
    assert 2 * 4 * sum(abs(one) for one in differences) * 97 * 89 * 83 * 79 * 73 * 71 * 67 * 61 > MOST_STEPS
    assert paired_p(differences) == 0.125
    assert upper_tail(differences) == 0.0625
    draw = random.Random(8)
    for count in (1, 2, 5, 9, 31, 33, 60):
        primes = [draw.choice([97, 89, 83, 79, 73, 71, 67, 61, 59, 53]) for _ in range(count)]
        found = [Fraction(draw.randint(-one, one) or 1, one) for one in primes]
        assert paired_p(found) >= 2.0 ** (1 - count)
        assert paired_p([abs(one) for one in found]) == pytest.approx(2.0 ** (1 - count), abs=1e-6)


def test_enumerating_gives_the_p_value_of_scipys_permutation_test(monkeypatch):
    draw = random.Random(12)
    monkeypatch.setattr(statistics, "MOST_STEPS", 0)
    for _ in range(20):
        differences = [Fraction(draw.randint(-30, 36), 60) for _ in range(draw.randint(2, 12))]
        scaled = np.array([float(one * 60) for one in differences]).round()
        theirs = scipy.stats.permutation_test(
            (scaled,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative="greater"
        ).pvalue
        assert upper_tail(differences) == pytest.approx(theirs, abs=1e-9)


def test_the_test_of_a_cell_is_fishers_of_scipy():
    for before, now in itertools.product([Share(20, 20), Share(13, 17), Share(0, 5)], [Share(3, 20), Share(5, 5)]):
        table = [[now.successes, now.runs - now.successes], [before.successes, before.runs - before.successes]]
        p, least = fisher(before, now)
        assert p == pytest.approx(scipy.stats.fisher_exact(table, alternative="less").pvalue)
        assert least <= p
    assert fisher(Share(0, 0), Share(0, 0)) == (1.0, 1.0)


def test_tests_that_cannot_reach_the_level_do_not_count_among_the_tests():
    assert tarone([0.5, 1.0, 0.001], 0.05) == 1
    assert tarone([0.5], 0.05) == 0
    assert tarone([0.001] * 10, 0.05) == 10
    assert tarone([], 0.05) == 0


@pytest.mark.parametrize("repeats", [1, 3, 10])
def test_the_interval_of_a_column_covers_new_cases(repeats):
    draw = random.Random(repeats)
    for chances, mean in (([0.0, 0.5, 1.0], 0.5), ([0.8], 0.8), ([0.0] + [1.0] * 4, 0.8)):
        covered = 0
        for _ in range(400):
            found = [sum(draw.random() < one for _ in range(repeats)) for one in draw.choices(chances, k=20)]
            interval = clustered([Share(one, repeats) for one in found])
            covered += interval.low <= mean <= interval.high
        assert covered >= 368  # 92 %: what Wilson's own has at the worst share


def test_the_interval_of_a_difference_covers_it_and_is_that_of_agresti_and_min():
    draw = random.Random(6)
    covered = 0
    for _ in range(400):
        pairs = [(draw.random() < 0.9, draw.random() < 0.7) for _ in range(30)]
        interval = difference_interval([Fraction(one - two) for one, two in pairs])
        covered += interval.low <= 0.2 <= interval.high
    assert covered >= 368
    only_first, only_second, count = 7, 2, 20
    interval = difference_interval(ones(only_first, only_second, count - 9))
    middle = (only_first - only_second) / (count + 2)
    spread = (only_first + only_second + 1) / (count + 2) - middle**2
    half = scipy.stats.norm.ppf(0.975) * np.sqrt(spread / (count + 2))
    assert (interval.low, interval.high) == pytest.approx((middle - half, middle + half))


def test_a_bootstrap_interval_is_always_the_same_and_has_a_width_for_equal_scores() -> None:
    values = tuple([Fraction(at, 7) for at in (1, 3, -2, 5, 0, 4)])
    assert score_difference_interval(values) == score_difference_interval(values)
    alike = score_difference_interval([Fraction(0)] * 10)
    assert alike.low < 0 < alike.high
    shares = [Share(Fraction(1, 3), 1)] * 5
    assert clustered(shares).low < 1 / 3 < clustered(shares).high


def test_the_bootstrap_of_many_values_is_close_to_students_interval() -> None:
    rng = random.Random(1)
    for count in (30, 150, 400):
        values = tuple([rng.gauss(0.5, 0.1) for _ in range(count)])
        low, high = scipy.stats.t.interval(0.95, count - 1, np.mean(values), scipy.stats.sem(values))
        found = bootstrap(values)
        assert (found.low, found.high) == pytest.approx((low, high), abs=0.1 * (high - low))


@pytest.mark.slow
@pytest.mark.parametrize("cases", [6, 20, 60])
@pytest.mark.parametrize("shape", ["even", "mostly right", "thirds"])
def test_intervals_of_scores_cover_the_truth(cases: int, shape: str) -> None:
    rng = random.Random(f"{cases} {shape}")
    draws = {
        "even": (lambda: rng.random(), lambda: rng.random() ** 2, 1 / 2, 1 / 3),
        "mostly right": (
            lambda: 1.0 if rng.random() < 0.85 else rng.random(),
            lambda: 1.0 if rng.random() < 0.7 else rng.random(),
            0.925,
            0.85,
        ),
        "thirds": (lambda: rng.randrange(4) / 3, lambda: rng.choice((0, 0, 1 / 3, 1)), 1 / 2, 1 / 3),
    }
    first, second, mean, other = draws[shape]
    times, means, differences = 400, 0, 0
    for _ in range(times):
        one = [Fraction(first()) for _ in range(cases)]
        two = [Fraction(second()) for _ in range(cases)]
        by = score_difference_interval([a - b for a, b in zip(one, two, strict=True)])
        differences += by.low <= mean - other <= by.high
        column = clustered([Share(value, 1) for value in one])
        means += column.low <= mean <= column.high
    assert differences / times >= 0.92
    assert means / times >= 0.92
