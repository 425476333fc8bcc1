"""Install a dspy release with uv, or else venv and pip, from the index that pip is configured for.

They run as subprocesses; their error output is reduced to a single line.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from adapters.errors import reason_of
from sessions.errors import SessionError

Reason = Literal["no such release", "python", "network", "broken"]
FOR_UV = {
    **{name: f"--{name}" for name in ("index-url", "extra-index-url", "find-links", "constraint", "no-index", "cert")},
    "trusted-host": "--allow-insecure-host",
}
"""uv's equivalent option for each setting of pip."""
SWITCHES = ("no-index",)
STEPS = re.compile(r"(Collecting|Downloading|Building|Prepared|Resolved|Installed|Installing) .*", re.IGNORECASE)
NO_NETWORK = re.compile(
    r"Retrying \(|Failed to establish a new connection|name resolution|dns error|error sending request"
    r"|Failed to fetch|Could not connect|Connection refused|ConnectTimeout|Network is unreachable|ProxyError"
)
ELSEWHERE = re.compile(r"(?:^|[ ;,])(\d\S*) Requires-Python ([^;\n]+)")
OF_PIP = re.compile(r"\(from versions: ([^)]*)\)")
NOT_BUILT = re.compile(
    r"(?:Failed to build|Failed building wheel for|Could not build wheels for) [`']?([A-Za-z0-9][\w.-]*(?:==[\w.]+)?)"
)
TAKEN_IN = re.compile(r"(?:Collecting|Processing|Building) (?:\S*/)?([A-Za-z0-9][\w.]*(?:-[A-Za-z][\w.]*)*)")
"""A package being fetched, by its name or its file's. If a build fails before the package has a name, it is the last
of these."""
END_OF_PIPS_BUILD = "[end of output]"
START_OF_PIPS_BUILD = re.compile(r"╰─> \[\d+ lines of output\]")
START_OF_UVS_BUILD = re.compile(r"\[std(?:out|err)\]")
SAYS_WHY = re.compile(r"(?:\S+: )?(?:fatal error|(?:\w+\.)*\w*(?:Error|Exception)): \S")
A_COMMAND_FAILED = re.compile(r"error: (?:command|subprocess)\b", re.IGNORECASE)
MOST_LINES = 400
OLDEST_PYTHON = (3, 11)
"""The oldest Python that our packages support; the child process imports them."""


class CannotAddError(SessionError):
    """Why a release could not be added, in a single line."""

    def __init__(self, reason: Reason, message: str, hint: str = "") -> None:
        self.reason = reason
        super().__init__(None, "", message, hint)


def install(version: str, folder: Path, tell: Callable[[str], None], python: str) -> str:
    """Create an environment in `folder` from `python`, install dspy, and return the environment's Python.

    Raises `CannotAddError`, or `SessionError` if the folder cannot be created.
    """
    _check(python)
    inside = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    wanted = f"dspy=={version}"
    uv = shutil.which("uv")
    tell(f"making an environment for dspy {version}")
    if uv is not None:
        # uv ignores the settings of pip.
        answers = (_answer([one, "-m", "pip", "config", "list"]) for one in dict.fromkeys((python, sys.executable)))
        settings = as_uvs_options(next((said for said in answers if said is not None), ""))
        _run([uv, "venv", "--quiet", "--python", python, str(folder)], version, python, tell)
        _run([uv, "pip", "install", "--python", inside, *settings, wanted], version, python, tell)
        return inside
    has_pip = _says([python, "-m", "pip", "--version"]) != ""
    _run([python, "-m", "venv", *(["--without-pip"] if has_pip else []), str(folder)], version, python, tell)
    pip = [python, "-m", "pip", "--python", inside] if has_pip else [inside, "-m", "pip"]
    quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    _run([*pip, "install", *quiet, wanted], version, python, tell)
    return inside


def _check(python: str) -> None:
    """Raise `CannotAddError` if `python` cannot run the workbench's own packages."""
    found = _says([python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"])
    if not found:
        raise CannotAddError("python", f"{python} cannot be run", "name a Python that is there with --python")
    if not re.fullmatch(r"\d+\.\d+", found) or tuple(map(int, found.split("."))) < OLDEST_PYTHON:
        needed = ".".join(map(str, OLDEST_PYTHON))
        message = f"{python} is Python {found[:20]}, and the workbench reads sessions there with {needed} or later"
        raise CannotAddError("python", message, "name another with --python")


def _run(command: Sequence[str], version: str, python: str, tell: Callable[[str], None]) -> None:
    """Run a step to its end, then kill its whole process group. Raises `CannotAddError` if it fails."""
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        message = f"{command[0]} cannot be run: {reason_of(error)}"
        raise CannotAddError("python", message, "name a Python that is there with --python") from error
    try:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            del lines[:-MOST_LINES]
            if STEPS.match(line.strip()):
                tell(line.strip())
        code = process.wait()
    finally:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if code != 0:
        raise why("\n".join(lines), version, python)


def why(said: str, version: str, python: str) -> CannotAddError:
    """Return pip's or uv's error as a line with the fix."""
    # The Python versions that the release requires, if that is why the installer rejects it.
    needs = next((str(one).strip() for name, one in ELSEWHERE.findall(said) if name == version), "")
    joined = " ".join(said.split())
    uvs = re.search(rf"dspy=={re.escape(version)} depends on Python(\S+(?:,\S+)*)", joined)
    if not needs and uvs is not None and "does not satisfy" in joined:
        needs = uvs[1].rstrip(",.")
    if needs:
        own = _says([python, "-c", "import platform; print(platform.python_version())"]) or "another"
        hint = f"name another with --python, or `workbench dspy use PYTHON` for one that has dspy {version}"
        return CannotAddError("python", f"dspy {version} needs Python {needs}, and {python} is {own}", hint)
    found = OF_PIP.search(said)
    versions = [one.strip() for one in found[1].split(",")] if found else []
    if versions and versions != ["none"]:
        return _no_such(version, versions)
    if NO_NETWORK.search(said):
        message = f"dspy {version} cannot be fetched: the package index does not answer"
        return CannotAddError("network", message, "look at the network and at `pip config list`")
    if versions or re.search(r"there is no version of dspy|no versions of dspy|was not found in the", said):
        return _no_such(version, [])
    last = [one.strip() for one in said.splitlines() if one.strip()]
    built = _not_built(last)
    if built:
        hint = "try a Python that this release supports: `--python`"
        return CannotAddError("broken", f"dspy {version} cannot be installed: {built[:300]}", hint)
    errors = [one for one in last if one.lower().startswith(("error", "×", "╰"))]
    line = (errors or last or ["it exited without a message"])[-1].lstrip("×╰─▶ ")
    return CannotAddError("broken", f"dspy {version} cannot be installed: {line[:300]}")


def _not_built(lines: Sequence[str]) -> str:
    """Return the package whose build failed, and the reason; empty if no build failed.

    pip and uv quote the build's output and add only that it failed. The reason is the line of an exception or of a
    compiler error, else the last line.
    """
    of_uv = next((index for index, one in enumerate(lines) if START_OF_UVS_BUILD.fullmatch(one)), None)
    if END_OF_PIPS_BUILD in lines:
        end = lines.index(END_OF_PIPS_BUILD)
        starts = [index for index, one in enumerate(lines[:end]) if START_OF_PIPS_BUILD.fullmatch(one)]
        said = lines[starts[-1] + 1 if starts else 0 : end]
    elif of_uv is not None:
        said = [one for one in lines[of_uv + 1 :] if not one.startswith("hint:") and not START_OF_UVS_BUILD.match(one)]
    else:
        return ""
    told = [one for one in said if not A_COMMAND_FAILED.match(one)]
    reasons = [one for one in told if SAYS_WHY.match(one)]
    # The first compiler error causes the others; the last line of a traceback is the exception.
    compilers = [one for one in reasons if "fatal error:" in one]
    reason = (compilers[:1] or reasons[-1:] or told[-1:] or ["its build exited without a message"])[0]
    named = next((found[1] for one in lines if (found := NOT_BUILT.search(one))), "")
    taken = [found[1] for one in lines if (found := TAKEN_IN.match(one))]
    return f"{named or (taken or ['a package that it needs'])[-1]} cannot be built: {reason}"


def _no_such(version: str, versions: Sequence[str]) -> CannotAddError:
    series = version.rpartition(".")[0]
    near = [one for one in versions if one.startswith(f"{series}.")] or versions
    hint = f"there are {', '.join(near[-5:])}" if near else "`pip index versions dspy` lists those there are"
    return CannotAddError("no such release", f"there is no dspy {version}", hint)


def _says(command: Sequence[str]) -> str:
    """Return the first line of a program's output; empty if it fails."""
    return (_answer(command) or "").strip().partition("\n")[0]


def _answer(command: Sequence[str]) -> str | None:
    """Return a program's output; None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def as_uvs_options(said: str) -> list[str]:
    """Convert `pip config list` to uv options; a variable's value wins over a file's.

    Its lines are like `global.index-url='https://…'`; those of variables begin with `:env:`.
    """
    lines = sorted(said.splitlines(), key=lambda one: one.startswith(":env:"))
    found: dict[str, str] = {}
    for line in lines:
        key, _, value = line.removeprefix(":env:").partition("=")
        name = key.strip().rpartition(".")[2]
        if name in FOR_UV and len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            found[name] = value[1:-1].replace("\\n", " ")
    options: list[str] = []
    for name, value in found.items():
        if name in SWITCHES:
            options += [FOR_UV[name]] if value.lower() in ("1", "true", "yes", "on") else []
        else:
            options += [part for one in value.split() for part in (FOR_UV[name], one)]
    # pip chooses the best version from all indexes; uv, from the first index that has the package.
    return [*options, "--index-strategy", "unsafe-best-match"] if "extra-index-url" in found else options
