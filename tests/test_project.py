"""The project's own files: what the README says is what CI runs, and a wheel holds all that the program opens."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.tui.keys import APP_BINDINGS

ROOT = Path(__file__).parents[1]
PACKAGES = ("adapters", "sessions", "workbench")


def test_ci_runs_the_test_command_of_the_readme_word_for_word() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    start, tests = (block.strip() for block in blocks[:2])
    assert start.endswith(".venv/bin/workbench")
    assert tests.startswith("python3 -m venv .venv && ")
    assert "pytest" in tests
    assert tests in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_page_of_keys_names_every_key_of_the_app() -> None:
    text = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8").lower()
    keys = {key for binding in APP_BINDINGS for key in binding.key.split(",")}
    signs = {"right_square_bracket": "]", "backslash": "\\"}
    keys = {"+".join(signs.get(part, part) for part in key.split("+")) for key in keys}
    assert {key for key in keys if f"`{key}`" not in text} == set()


def test_every_file_and_link_that_the_readme_names_is_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize(
    "places",
    [
        pytest.param(["/" + folder + "/" for folder in ("work", "root")], id="a path of one machine"),
        pytest.param([".".join(host) for host in (("pypi", "org"), ("pythonhosted", "org"))], id="a registry's host"),
    ],
)
def test_no_committed_file_names_where_it_was_made(places: list[str]) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    offenders = []
    for name in listed.stdout.decode().split("\0")[:-1]:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".json", ".tcss", "") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            offenders += [name] if any(place in text for place in places) else []
    assert offenders == []


def test_dspy_is_an_oracle_of_the_tests_and_no_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not any(one.startswith("dspy") for one in project["dependencies"])
    assert "dspy==3.4.1" in project["optional-dependencies"]["test"]


@pytest.mark.slow
def test_a_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=600)
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    listed = subprocess.run(["git", "ls-files", "-z", *PACKAGES], cwd=ROOT, capture_output=True, check=True)
    files = set(listed.stdout.decode().split("\0")) - {""}
    assert {f"{package}/py.typed" for package in PACKAGES} <= inside
    assert files - inside == set()


def test_whoever_catches_everything_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for number, (line, below) in enumerate(pairwise([*path.read_text(encoding="utf-8").splitlines(), ""]), 1)
        if re.match(r"\s*except( Exception| BaseException)?( as \w+)?:", line) and "#" not in line + below
    ]
    assert silent == []


def test_every_benchmark_runs_as_a_file_and_as_a_module() -> None:
    scripts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").glob("*.py")}
    bare = re.compile(rf"^(?:from|import) ({'|'.join(scripts)})\b", re.MULTILINE)
    offenders = {name: bare.findall(text) for name, text in scripts.items() if bare.search(text)}
    assert offenders == {}, "a file beside it is `benchmarks.NAME`, which both ways find"
