"""What is decided in a review that has not ended, kept in the state folder: whoever is killed there decides it once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sessions.errors import SessionError
from sessions.file import store
from sessions.file.state_folder import in_plain_words, key_of, private, state_folder
from workbench.checks.decisions import Decision, Decisions

MOST_REVIEWS = 50
"""That were not ended; the decisions of the oldest beyond them are let go."""
LARGEST = 1_000_000
"""Bytes; a file of that size is none of ours."""


class KeptDecisions:
    """Of one review: one small file, there from the first decision until the review has ended. `key` is its name."""

    def __init__(self, key: str) -> None:
        self._key = key

    def taken_up(self, decisions: Decisions) -> Decisions:
        """With what was decided before the review was cut off, of causes that are still the same, as one step."""
        try:
            said = _read(_folder() / f"{self._key}.json")
        except (OSError, ValueError, RecursionError):
            return decisions
        return decisions.with_step(said)

    def keep(self, decisions: Decisions) -> str:
        """Keeps what is decided by now, on the disk when it returns. Returns why it could not, else ""."""
        if not decisions.steps[-1]:
            self.remove()
            return ""
        content = json.dumps({"decisions": dict(decisions.steps[-1])}, indent=1)
        try:
            folder = private(_folder())
            store.write_whole(folder / f"{self._key}.json", content.encode())
            _remove_oldest(folder)
        except (OSError, SessionError) as error:
            return in_plain_words(error)
        return ""

    def remove(self) -> None:
        """The review has ended."""
        with suppress(OSError, SessionError):
            (_folder() / f"{self._key}.json").unlink(missing_ok=True)


def of_files(paths: Sequence[str], chosen: Sequence[str]) -> KeptDecisions:
    """Of the files and folders of these names, of which `chosen` says what is looked at at all."""
    real = [os.path.realpath(path) for path in paths]
    text = json.dumps([real, list(chosen)])
    return KeptDecisions(f"{key_of(real[0])}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}")


def of_open(path: Path | None) -> KeptDecisions:
    """Of the session that is open, as it is on screen."""
    return KeptDecisions(f"{key_of(path)}-open")


def _folder() -> Path:
    return state_folder() / "decisions"


def _read(place: Path) -> Mapping[str, Decision]:
    """Raises OSError, ValueError and RecursionError; what is no decision is passed over."""
    if place.stat().st_size > LARGEST:
        return {}
    data = json.loads(place.read_text(encoding="utf-8"))
    said = data.get("decisions") if isinstance(data, dict) else None
    return dict(_decisions(said)) if isinstance(said, dict) else {}


def _decisions(said: Mapping[str, object]) -> Iterator[tuple[str, Decision]]:
    for id, decision in said.items():
        if decision == "accept" or decision == "leave":
            yield id, decision


def _remove_oldest(folder: Path) -> None:
    places = sorted(folder.glob("*.json"), key=lambda one: one.stat().st_mtime_ns, reverse=True)
    for place in places[MOST_REVIEWS:]:
        place.unlink(missing_ok=True)
