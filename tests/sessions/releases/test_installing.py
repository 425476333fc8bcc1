"""What pip and uv say of a failure, as one line with the mend."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sessions.releases import installing

FAILED_BUILDS = Path(__file__).parent / "failed_builds"
FROM_PIP_NO_SUCH = """\
ERROR: Could not find a version that satisfies the requirement dspy==3.0.99 (from versions: 2.0.9, 3.0.3, 3.0.4, 3.1.0)
ERROR: No matching distribution found for dspy==3.0.99
"""
FROM_PIP_PYTHON = """\
ERROR: Ignored the following versions that require a different python version: 3.0.3 Requires-Python <3.14,>=3.10; \
3.0.4 Requires-Python <3.14,>=3.10
ERROR: Could not find a version that satisfies the requirement dspy==3.0.4 (from versions: 2.0.9, 2.5.0)
"""
FROM_PIP_NO_NETWORK = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(...)': /simple/dspy/
ERROR: Could not find a version that satisfies the requirement dspy==3.0.4 (from versions: none)
ERROR: No matching distribution found for dspy==3.0.4
"""
FROM_UV_NO_NETWORK = """\
error: Request failed after 3 retries
  Caused by: Failed to fetch: `https://packages.example/simple/dspy/`
  Caused by: error sending request for url (https://packages.example/simple/dspy/)
  Caused by: dns error
"""
FROM_UV_NO_SUCH = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because there is no version of dspy==3.0.99 and you require dspy==3.0.99, we can conclude that your
      requirements are unsatisfiable.
"""
FROM_UV_PYTHON = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because the current Python version (3.9.18) does not satisfy Python>=3.10,<3.14 and dspy==3.0.4 depends on
      Python>=3.10,<3.14, we can conclude that dspy==3.0.4 cannot be used.
"""


@pytest.mark.parametrize(
    ("said", "version", "reason", "words"),
    [
        (FROM_PIP_NO_SUCH, "3.0.99", "no such release", "there is no dspy 3.0.99 (there are 3.0.3, 3.0.4)"),
        (FROM_PIP_PYTHON, "3.0.4", "python", "dspy 3.0.4 needs Python <3.14,>=3.10, and"),
        (FROM_PIP_NO_NETWORK, "3.0.4", "network", "the package index does not answer"),
        (FROM_UV_NO_NETWORK, "3.0.4", "network", "the package index does not answer"),
        (FROM_UV_NO_SUCH, "3.0.99", "no such release", "there is no dspy 3.0.99"),
        (FROM_UV_PYTHON, "3.0.4", "python", "dspy 3.0.4 needs Python >=3.10,<3.14, and"),
        ("ERROR: Failed building wheel for tokenizers\n", "3.0.4", "broken", "Failed building wheel for tokenizers"),
        ("", "3.0.4", "broken", "it exited without a message"),
    ],
)
def test_a_failure_is_one_line(said: str, version: str, reason: str, words: str) -> None:
    error = installing.why(said, version, sys.executable)
    assert error.reason == reason
    assert words in str(error)
    assert "\n" not in str(error)


RAISES = "RuntimeError: oldlib 1.0 is built with Python 3.9 or earlier only"
COMPILES = "oldlib.c:1:10: fatal error: longintrepr.h: No such file or directory"


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        ("pip-old-raises", f"oldlib cannot be built: {RAISES}"),
        ("pip-new-raises", f"oldlib cannot be built: {RAISES}"),
        ("uv-raises", f"oldlib==1.0 cannot be built: {RAISES}"),
        ("pip-old-compiles", f"oldlib cannot be built: {COMPILES}"),
        ("pip-new-compiles", f"oldlib cannot be built: {COMPILES}"),
        ("uv-compiles", f"oldlib==1.0 cannot be built: {COMPILES}"),
    ],
)
def test_a_package_that_cannot_be_built_is_named_with_what_its_build_said(recorded: str, words: str) -> None:
    """What pip 23.2.1, pip 26.3 and uv 0.13.9 said of a release that needs a package without a wheel."""
    said = (FAILED_BUILDS / f"{recorded}.txt").read_text(encoding="utf-8")
    error = installing.why(said, "0.1.99", sys.executable)
    assert (error.reason, str(error)) == (
        "broken",
        f"dspy 0.1.99 cannot be installed: {words} (try a Python that this release supports: `--python`)",
    )
    of_a_long_output = "\n".join(said.splitlines()[-20:])
    assert words.partition(": ")[2] in str(installing.why(of_a_long_output, "0.1.99", sys.executable))


def test_what_pip_is_set_to_is_said_to_uv() -> None:
    said = (
        ":env:.index-url='https://mine/simple'\nglobal.constraint='/etc/c.txt'\nglobal.index-url='https://other/simple'\n"
        "global.no-index='false'\nglobal.timeout='60'\nuser.find-links='/a\\n/b'\n"
    )
    assert installing.as_uvs_options(said) == [
        *("--constraint", "/etc/c.txt"),
        *("--index-url", "https://mine/simple"),
        *("--find-links", "/a", "--find-links", "/b"),
    ]
    assert installing.as_uvs_options("global.extra-index-url='https://a'\n")[-2:] == [
        "--index-strategy",
        "unsafe-best-match",
    ]
    assert installing.as_uvs_options("global.no-index='1'") == ["--no-index"]
    assert installing.as_uvs_options("nonsense\n=\n") == []
