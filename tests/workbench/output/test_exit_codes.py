from __future__ import annotations

import pytest

from workbench.output import exit_codes


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([], exit_codes.OK),
        ([0, 0], exit_codes.OK),
        ([0, 1], exit_codes.DIFFERENT),
        ([1, 3, 0], exit_codes.PROVIDER),
        ([0, 4], exit_codes.NOTHING),
        ([4, 1], exit_codes.DIFFERENT),
        ([2, 1], exit_codes.USAGE),
    ],
)
def test_the_worst_code_counts(codes: list[int], expected: int) -> None:
    assert exit_codes.worst(codes) == expected
