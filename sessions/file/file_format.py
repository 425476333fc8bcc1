"""Convert a `Session` to the JSON data of its file (format 1) and back.

Known keys are in the order of the types of `sessions.model`, users' data keeps its own order, and unknown keys come
last (`extra`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sessions.errors import SessionError, step_into
from sessions.file.format_reader import Reader
from sessions.file.format_writer import Writer
from sessions.file.json_values import JSON, WrittenParts
from sessions.model.parameters import check_no_secret, check_parameters, kind_of
from sessions.model.session import Session

FORMAT = 1
"""The newest format."""
TYPES_IN_A_REQUEST = frozenset({"messages", "tools", "response_format"})
"""Keys of a recorded request with the user's types and texts, where a word like `token` is not a secret."""


def data_of_session(session: Session, path: str | None = None, parts: WrittenParts | None = None) -> dict[str, JSON]:
    """Convert a session to JSON data. Raises `SessionError` for what must not or cannot be written.

    With `parts`, the data contains cached parts as text, for `json_values.write`.
    """
    check(session, path)
    own = Writer(path, parts).keys(session, "")
    if "format" in session.extra:
        raise SessionError(path, "format", "is a key of the session itself")
    return {"$schema": own.pop("$schema"), "format": FORMAT, **own}


def session_of_data(data: object, path: str | None = None) -> Session:
    """Convert decoded JSON data to a session. Raises `SessionError` naming the first invalid place."""
    reader = Reader(path)
    top = reader.object(data, "")
    _check_format(top, path)
    parts = {key: item for key, item in upgrade_to_newest(top).items() if key != "format"}
    session = reader.part(Session, parts, "")
    check(session, path)
    return session


def check(session: Session, path: str | None = None) -> None:
    """Raise `SessionError` for duplicate names, invalid parameters and secrets, when loading and saving."""
    _check_unique((one.id for one in session.columns), "columns", "id", path)
    _check_unique((one.name for one in session.tools), "tools", "name", path)
    _check_unique((one.name for one in session.cases), "cases", "name", path)
    check_no_secret(session.model, "model", path)
    check_parameters(session.params, "params", path)
    for index, column in enumerate(session.columns):
        check_parameters(column.params, f"columns[{index}].params", path)
        check_no_secret(column.options, f"columns[{index}].options", path)
    for index, tool in enumerate(session.tools):
        check_no_secret(tool.results, f"tools[{index}].results", path)
    for index, case in enumerate(session.cases):
        for id, recording in case.recordings.items():
            place = step_into(f"cases[{index}].recordings", id)
            _check_request(recording.request, f"{place}.request", path)
            for number, attempt in enumerate(recording.attempts):
                if attempt.request is not None:
                    _check_request(attempt.request, f"{place}.attempts[{number}].request", path)


def _check_request(request: Mapping[str, object], place: str, path: str | None) -> None:
    check_no_secret({key: item for key, item in request.items() if key not in TYPES_IN_A_REQUEST}, place, path)


def _check_unique(names: Iterable[str], place: str, key: str, path: str | None) -> None:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            raise SessionError(path, f"{place}[{index}].{key}", f"{name!r} is used twice", "give each its own")
        seen.add(name)


def _check_format(top: Mapping[str, object], path: str | None) -> None:
    if "format" not in top:
        raise SessionError(path, "", 'this is no session file: it has no "format"', "`workbench new` makes one")
    version = top["format"]
    if type(version) is not int or version < 0:
        raise SessionError(path, "format", f"expected a whole number, got {kind_of(version)}")
    if version > FORMAT:
        message = f"written by a newer workbench: format {version}, and this one reads format {FORMAT}"
        raise SessionError(path, "format", message, "upgrade the workbench")


def upgrade_to_newest(data: dict[str, Any]) -> dict[str, Any]:
    """Upgrade data of any format from 0 to `FORMAT`."""
    for version in range(data["format"], FORMAT):
        data = STEPS[version](data)
    return data


def upgrade_from_0(data: dict[str, Any]) -> dict[str, Any]:
    """Upgrade from format 0: move measurements out of the recordings, because checks do not compare them."""
    cases = data.get("cases")
    if not isinstance(cases, list):
        return data
    return {**data, "format": 1, "cases": [_measured_apart(case) for case in cases]}


def _measured_apart(case: Any) -> Any:
    recordings = case.get("recordings") if isinstance(case, dict) else None
    if not isinstance(recordings, dict):
        return case
    measured: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for id, recording in recordings.items():
        kept[id] = recording
        if isinstance(recording, dict) and "measured" in recording:
            kept[id] = {key: value for key, value in recording.items() if key != "measured"}
            if recording["measured"]:
                measured[id] = recording["measured"]
    made = {**case, "recordings": kept}
    return {**made, "measured": measured} if measured else made


STEPS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = MappingProxyType({0: upgrade_from_0})
