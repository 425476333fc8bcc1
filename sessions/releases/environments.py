"""Manage the added dspy releases, each in its own environment in the user's data folder; keep used ones warm.

A release is a folder `dspy/VERSION` with an `environment.json` that names its Python: in an environment in the same
folder, or the user's own (`use`). It is created under a temporary name, tested, then renamed, so that a folder
`dspy/VERSION` is always complete.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from adapters.errors import reason_of
from adapters.formats import catalog
from adapters.late_dataclasses import dataclass
from adapters.user_folders import user_folder
from sessions.errors import SessionError
from sessions.releases import installing, project
from sessions.releases.engine import ReleaseError
from sessions.releases.installing import CannotAddError
from sessions.releases.release import Release, end_every_child, no_more_children

VERSION = re.compile(r"\d{1,4}(\.\d{1,6}){0,3}((a|b|rc|\.dev|\.post)\d{1,6})?")
RECORD = "environment.json"
UNDER_WAY = ".making-"


@dataclass(frozen=True)
class Environment:
    """An added release."""

    version: str
    python: str
    is_own: bool
    """True if the workbench created the environment; if not, it is the user's."""
    folder: Path
    adapters: tuple[str, ...] = ()
    """The adapters it reported when it was added; empty if added before they were recorded."""

    @property
    def is_there(self) -> bool:
        """Tell whether its Python exists and, as far as its folder shows, still has this release."""
        releases = project.releases_in(Path(self.python).parents[1])
        return os.access(self.python, os.X_OK) and (not releases or self.version in releases)


def folder() -> Path:
    """Return `$XDG_DATA_HOME/adapter-workbench/dspy`, by default below `~/.local/share`; it may not exist yet.

    Raises `SessionError` if there is neither the variable nor a home folder.
    """
    found = user_folder("XDG_DATA_HOME", ".local/share")
    if found is None:
        message = "there is no home folder to keep releases of dspy in"
        raise SessionError(None, "", message, "set XDG_DATA_HOME to a folder of yours")
    return found / "dspy"


def added() -> tuple[Environment, ...]:
    """List the added releases, oldest first, without starting any."""
    try:
        names = [one.name for one in folder().iterdir() if VERSION.fullmatch(one.name)]
    except (OSError, SessionError):
        return ()
    found = [find(name) for name in sorted(names, key=order)]
    return tuple([one for one in found if one is not None])


def find(version: str) -> Environment | None:
    """Return the release of a version; None if it was not added, or is incomplete."""
    if not VERSION.fullmatch(version):
        return None
    try:
        place = folder() / version
        said = json.loads((place / RECORD).read_text(encoding="utf-8"))
        python, is_own = said["python"], said["own"]
    except (OSError, SessionError, ValueError, KeyError, TypeError):
        return None
    if not isinstance(python, str) or not isinstance(is_own, bool):
        return None
    known = said.get("adapters")
    adapters = tuple([one for one in known if isinstance(one, str)]) if isinstance(known, list) else ()
    return Environment(version, str(place / python) if is_own else python, is_own, place, adapters)


def why_not_there(adapter: str) -> str:
    """Return why an adapter such as `chat@3.0.4` is unavailable, with the fix; empty if available or our own."""
    named = catalog.parse_release(adapter)
    found = None if named is None else find(named.version)
    if named is None or (found is not None and found.is_there):
        return ""
    said = "is not added here" if found is None else f"is no longer in {found.python}"
    return f"dspy {named.version} {said}: `workbench dspy add {named.version}` adds it"


def open_release(version: str) -> Release:
    """Start the release of a version. Raises `ReleaseError`."""
    found = find(version)
    if found is None or not found.is_there:
        raise ReleaseError("missing", "", why_not_there(f"chat@{version}"))
    again = f"`workbench dspy remove {version}`, and add it again"
    release = Release(found.python, hint=again)
    if release.version != version:
        release.close()
        raise ReleaseError("missing", found.python, f"has dspy {release.version} now, not {version}", again)
    return release


def open_named(name: str) -> Release:
    """Start an added release (`3.0.4`), or the dspy of a Python. Raises `ReleaseError`."""
    return open_release(name) if VERSION.fullmatch(name) else Release(name)


def add(version: str, tell: Callable[[str], None], python: str = sys.executable) -> Environment:
    """Create an environment from `python` with a dspy release; `tell` is called with a line for each step.

    An existing release is returned unchanged. Takes a minute, and leaves nothing behind if it fails or is interrupted
    (KeyboardInterrupt). Raises `CannotAddError`, or `SessionError` if the folder cannot be written.
    """
    if not VERSION.fullmatch(version):
        raise CannotAddError("no such release", f"{version[:40]!r} is not a release of dspy", "name one as `3.0.4`")
    there = find(version)
    if there is not None and there.is_there:
        return there
    place = _clean(folder())
    making = place / f"{UNDER_WAY}{version}-{os.getpid()}"
    try:
        own = installing.install(version, making / "python", tell, python)
        tell("trying it")
        try:
            with Release(own) as dspy:
                found, adapters = dspy.version, dspy.adapters
        except ReleaseError as error:
            message = f"dspy {version} was installed, and {error.message}"
            raise CannotAddError("broken", message, "another release may do, or another Python: `--python`") from error
        if found != version:
            raise CannotAddError("broken", f"what was installed as dspy {version} calls itself {found[:40]}")
        return _kept(making, version, os.path.relpath(own, making), adapters, is_own=True)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def use(python: str) -> Environment:
    """Register the dspy of the user's Python under its version, replacing an earlier release.

    Raises `ReleaseError` if the Python has no usable dspy, and `SessionError`.
    """
    absolute = os.path.abspath(os.path.expanduser(python)) if os.sep in python else shutil.which(python) or python
    with Release(absolute, hint="install dspy there, or name another Python") as dspy:
        version, adapters = dspy.version, dspy.adapters
    if not VERSION.fullmatch(version):
        raise ReleaseError("missing", absolute, f"its dspy calls itself {version[:40]!r}, which is not a release")
    there = find(version)
    # A venv's Python is a link: the link's folder counts
    if there is not None and there.is_own:
        if Path(absolute).parent.resolve().is_relative_to(there.folder.resolve()):
            return there  # registering it would remove it
    making = _clean(folder()) / f"{UNDER_WAY}{version}-{os.getpid()}"
    try:
        making.mkdir()
        remove(version)
        return _kept(making, version, absolute, adapters, is_own=False)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def remove(version: str) -> bool:
    """Remove a release, and its environment if it is our own; return whether it existed. Raises `SessionError`."""
    if not VERSION.fullmatch(version):
        return False
    place = folder() / version
    gone = place.with_name(f"{UNDER_WAY}{version}-gone-{os.getpid()}")
    try:
        place.rename(gone)  # atomic, so that a partly removed release never looks complete
    except FileNotFoundError:
        return False
    except OSError as error:
        raise SessionError(place, "", f"cannot be removed: {reason_of(error)}") from error
    shutil.rmtree(gone, ignore_errors=True)
    return True


def order(version: str) -> tuple[tuple[int, ...], str]:
    """Return a sort key for versions: 3.9 before 3.10, and 3.5.0rc1 before 3.5.0."""
    found = re.match(r"[\d.]*\d", version)
    numbers = found[0] if found else ""
    rest = version[len(numbers) :]
    return tuple([int(one) for one in numbers.split(".") if one]), rest or "~"


def _kept(making: Path, version: str, python: str, adapters: Sequence[str], *, is_own: bool) -> Environment:
    place = making.with_name(version)
    try:
        record = {"python": python, "own": is_own, "adapters": list(adapters)}
        (making / RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")
        there = find(version)
        if there is None or not there.is_there:
            shutil.rmtree(place, ignore_errors=True)
            making.rename(place)
    except OSError as error:
        raise SessionError(place, "", f"cannot be made: {reason_of(error)}") from error
    found = find(version)
    if found is None:
        raise SessionError(place, "", "was removed at the same time", "add it again")
    return found


def _clean(place: Path) -> Path:
    """Create the folder of releases if needed, and delete what killed processes left in it."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        for left in place.glob(f"{UNDER_WAY}*"):
            with suppress(OSError, OverflowError, ValueError):
                os.kill(int(left.name.rpartition("-")[2]), 0)
                continue  # its process still runs
            shutil.rmtree(left, ignore_errors=True)
    except OSError as error:
        raise SessionError(place, "", f"cannot be written: {reason_of(error)}") from error
    return place


_lock = threading.Lock()
_starting: dict[str, threading.Lock] = {}
"""A lock for each version, so that it is started once while other versions start in parallel."""
_running: dict[str, Release] = {}


def release_of(version: str) -> Release:
    """Return the warm release of a version. Raises `ReleaseError`; if it was not added, with how to add it."""
    with _lock:
        starting = _starting.setdefault(version, threading.Lock())
    with starting:
        if version not in _running:
            _running[version] = open_release(version)
        return _running[version]


def end() -> None:
    """End all processes, also those still starting; pending and new questions raise an error.

    No pending work can then keep the program from exiting. `begin` allows questions again.
    """
    end_every_child()
    with _lock:
        known = list(_starting.items())
    for version, starting in known:
        with starting:
            release = _running.pop(version, None)
        if release is not None:
            release.close()


begin = no_more_children.clear
"""Answer questions again after `end`."""

atexit.register(end)
