"""Store all runs in an SQLite file in the state folder, with full-text search of prompts and replies.

Texts that several runs share are stored once. When the file reaches its size limit, the oldest runs are deleted.
Secrets of the environment are replaced by the names of their variables.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm.secrets import Scrubber
from adapters.running.runs import Run
from adapters.values.plain_json import plain
from sessions.file import store
from sessions.file.json_values import JSON
from sessions.file.whole_files import explain, private, state_folder
from sessions.model.session import Column, Session

LONGEST_TEXT = 200_000
"""Maximum characters stored of each reply and message."""
LONGEST_ERROR = 2_000
LARGEST_SESSION = 4_000_000
"""Maximum characters of a session that is stored with its run."""
MOST_FOUND = 500
"""Maximum number of runs that a search returns, newest first."""
MOST_WORDS = 100
"""Distinct words that a search looks for: a pasted text is found by its first ones."""
MEGABYTE = 1_000_000
FULL_TO = 0.9
"""Share of the size limit to which the file is reduced when the oldest runs are deleted."""

TABLES = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, sha BLOB UNIQUE, body TEXT);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(body, content='texts', content_rowid='id', prefix='1 2 3');
CREATE TABLE IF NOT EXISTS parts (id INTEGER PRIMARY KEY, sha BLOB UNIQUE, body BLOB);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, at TEXT, path TEXT, case_name TEXT, adapter TEXT, model TEXT, failed INTEGER,
    head TEXT, found TEXT, reply INTEGER, frame INTEGER, sent_case INTEGER);
CREATE TABLE IF NOT EXISTS pieces (
    text INTEGER, run INTEGER, place INTEGER, role TEXT, PRIMARY KEY (text, run, place)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_run ON pieces (run, place);
CREATE INDEX IF NOT EXISTS by_path ON runs (path, case_name);
"""
WITHOUT_RUN = "WHERE id NOT IN (SELECT text FROM pieces)"
INDEXED = "SELECT id, CAST(spaced(CAST(body AS BLOB)) AS TEXT) FROM texts"
"""Texts as the full-text index gets them, by id."""
SPACED = 1
"""The version of files whose index has the characters of Chinese and Japanese as words."""
_UNSPACED = re.compile("([\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")


@dataclass(frozen=True)
class PastRun:
    """A finished run. `at` is local time in ISO 8601; `values` are plain JSON by field, empty when unparsed."""

    at: str
    case: str
    column: str
    model: str
    phase: str
    seconds: float
    text: str
    error: str = ""
    values: Mapping[str, JSON] = field(default_factory=dict)
    adapter: str = ""
    session: str = ""
    """The session's name."""
    path: str = ""
    """The session's file; for an unsaved session, an unused name in the working folder."""
    messages: tuple[tuple[str, str], ...] = ()
    """Role and text of each message of the prompt."""
    id: int = 0
    """Its number in the store; 0 if not stored."""

    @property
    def time(self) -> str:
        return self.at[:19].replace("T", " ")

    @property
    def title(self) -> str:
        """The session's name, else that of its file."""
        return self.session or os.path.basename(self.path)


HEAD = ("at", "case", "column", "model", "phase", "seconds", "error", "adapter", "session", "path")
"""The fields of a run that a list shows; earlier versions stored a rating and a note, too."""


@dataclass(frozen=True)
class Wanted:
    """A search: runs must match every field that is set."""

    words: str = ""
    """Word prefixes; each must occur in the prompt, the reply or the error."""
    model: str = ""
    """A part of the model's name."""
    adapter: str = ""
    failed: bool = False
    since: str = ""
    """The first day or time, in ISO 8601."""
    until: str = ""
    """The last day or time."""
    path: str = ""
    """The session's file."""
    folder: str = ""
    """A folder that contains the session's file."""
    case: str | None = None
    failed_first: bool = False


@dataclass(frozen=True)
class Found:
    """Search results: the newest runs, without prompts and values, and the total count."""

    runs: tuple[PastRun, ...]
    count: int


def wanted_of(typed: str, within: Wanted) -> Wanted:
    """Read a search line: words, and filters such as `model:gpt adapter:json is:failed since:2026-11-01`.

    >>> wanted_of("paris model:gpt is:failed", Wanted()) == Wanted(words="paris", model="gpt", failed=True)
    True
    """
    words: list[str] = []
    filters: dict[str, Any] = {}
    for word in typed.split():
        name, colon, value = word.partition(":")
        if word == "is:failed":
            filters["failed"] = True
        elif colon and value and name in ("model", "adapter", "since", "until"):
            filters[name] = value
        elif not (colon and name in ("model", "adapter", "since", "until", "is")):
            words.append(word)
    return replace(within, words=" ".join(words), **filters)


def sent_file() -> Path:
    """Return the path of the SQLite file, in a private folder. Raises OSError, and `SessionError` without a home."""
    return private(state_folder() / "runs") / "sent.sqlite"


def clear() -> int:
    """Delete all stored runs; return the number of bytes freed. Raises OSError and `SessionError`."""
    freed = 0
    for file in (*sent_file().parent.glob("sent.sqlite*"), *sent_file().parent.glob("*.jsonl")):
        freed += file.stat().st_size
        file.unlink()
    return freed


class SentRuns:
    """A thread-safe store of runs in a file (None: in memory) of at most `megabytes`.

    Methods raise OSError, `SessionError` and `sqlite3.Error`; `plain_words` describes them.
    """

    def __init__(self, file: Path | None, megabytes: int) -> None:
        self._file = file
        self._most = megabytes * MEGABYTE
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    def add(self, run: PastRun, session: Session | None = None) -> None:
        """Store a run with the session as it was sent; delete the oldest runs if space runs out."""
        scrubber = Scrubber()
        texts = [(role, scrubber.scrubbed(text[:LONGEST_TEXT])) for role, text in run.messages]
        about = " ".join((run.session, run.case, run.column, run.model))
        texts += [("reply", scrubber.scrubbed(run.text[:LONGEST_TEXT])), ("error", scrubber.scrubbed(run.error))]
        head = scrubber.json({name: getattr(run, name) for name in HEAD})
        parts = _parts(session, run.case, scrubber)
        with self._connection() as opened:
            bodies = [text.encode("utf-8", "surrogatepass") for _, text in (*texts, ("about", about))]
            ids = [_stored(opened, "texts", body) for body in bodies]
            kept: list[int | None] = [_stored(opened, "parts", zlib.compress(one)) for one in parts]
            added = opened.execute(
                "INSERT INTO runs (at, path, case_name, adapter, model, failed, head, found, reply, frame, sent_case)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(_readable(one) for one in (run.at, run.path, run.case, run.adapter, run.model)),
                    run.phase != "done",
                    json.dumps(head),
                    json.dumps(scrubber.json(run.values)),
                    ids[-3],
                    *(kept or (None, None)),
                ),
            )
            roles = [*(role for role, _ in texts), "about"]
            opened.executemany(
                "INSERT INTO pieces VALUES (?, ?, ?, ?)",
                [(id, added.lastrowid, place, role) for place, (id, role) in enumerate(zip(ids, roles, strict=True))],
            )
            self._make_room(opened)

    def search(self, wanted: Wanted, most: int = MOST_FOUND) -> Found:
        """Return the newest matching runs, without prompts and values."""
        where, values = _where(wanted)
        order = f"ORDER BY {'failed DESC, ' if wanted.failed_first else ''}at DESC, runs.id DESC"
        with self._connection() as opened:
            rows = opened.execute(
                f"WITH hits AS (SELECT id, count(*) OVER () AS hit_count FROM runs {where} {order} LIMIT ?) "
                "SELECT runs.id, head, substr(body, 1, 300), hit_count FROM hits "
                f"JOIN runs ON runs.id = hits.id LEFT JOIN texts ON texts.id = reply {order}",
                (*values, most),
            ).fetchall()
        runs = tuple(PastRun(**_head(head), text=text or "", id=id) for id, head, text, _ in rows)
        return Found(runs, rows[0][3] if rows else 0)

    def whole(self, id: int) -> PastRun | None:
        """Return a run with prompt, reply and values; None if it was deleted."""
        with self._connection() as opened:
            row = opened.execute("SELECT head, found FROM runs WHERE id = ?", (id,)).fetchone()
            pieces = opened.execute(
                "SELECT role, body FROM pieces JOIN texts ON texts.id = pieces.text WHERE run = ? ORDER BY place", (id,)
            ).fetchall()
        if row is None:
            return None
        messages = tuple(pieces[:-3])
        return PastRun(**_head(row[0]), values=json.loads(row[1]), text=pieces[-3][1], messages=messages, id=id)

    def session_of(self, id: int) -> Session | None:
        """Return the session of a run as it was sent, with only that case; None if it was not stored."""
        with self._connection() as opened:
            rows = opened.execute(
                "SELECT frames.body, cases.body FROM runs JOIN parts AS frames ON frames.id = frame "
                "JOIN parts AS cases ON cases.id = sent_case WHERE runs.id = ?",
                (id,),
            ).fetchall()
        if not rows:
            return None
        frame, case = [json.loads(zlib.decompress(one)) for one in rows[0]]
        return store.loads(json.dumps(frame | {"cases": [case]}))

    def move(self, before: str, path: str) -> None:
        """Change the session path of stored runs from `before` to `path`."""
        new = _readable(path)
        with self._connection() as opened:
            opened.execute(
                "UPDATE runs SET path = ?, head = json_set(head, '$.path', ?) WHERE path = ?",
                (new, new, _readable(before)),
            )

    def version(self) -> int:
        """Return a number that changes when another process stores a run."""
        with self._connection() as opened:
            return int(opened.execute("PRAGMA data_version").fetchone()[0])

    def size(self) -> tuple[int, int]:
        """Return the number of stored runs and their size in bytes."""
        with self._connection() as opened:
            return opened.execute("SELECT count(*) FROM runs").fetchone()[0], _size(opened)

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._opened is None:
                self._opened = _open(self._file)
            with self._opened:
                yield self._opened

    def _make_room(self, opened: sqlite3.Connection) -> None:
        """Delete the oldest runs, 5 % at a time, if the file exceeds its size limit."""
        if _size(opened) <= self._most:
            return
        while _size(opened) > self._most * FULL_TO:
            count = opened.execute("SELECT count(*) FROM runs").fetchone()[0]
            if count <= 1:
                break
            oldest = f"(SELECT id FROM runs ORDER BY at, id LIMIT {max(1, count // 20)})"
            opened.execute(f"DELETE FROM pieces WHERE run IN {oldest}")
            opened.execute(f"DELETE FROM runs WHERE id IN {oldest}")
            gone = INDEXED.replace("SELECT", "SELECT 'delete',", 1)
            opened.execute(f"INSERT INTO words (words, rowid, body) {gone} {WITHOUT_RUN}")
            opened.execute(f"DELETE FROM texts {WITHOUT_RUN}")
            used = "SELECT frame FROM runs WHERE frame UNION SELECT sent_case FROM runs WHERE sent_case"
            opened.execute(f"DELETE FROM parts WHERE id NOT IN ({used})")
        opened.execute("INSERT INTO words (words) VALUES ('optimize')")
        opened.execute("PRAGMA incremental_vacuum").fetchall()


def past_runs(
    session: Session, column: Column, case: str, path: str, runs: Iterable[Run], raw: bool = False
) -> Iterator[PastRun]:
    """Convert finished runs of a column to `PastRun`; `path` is the session's file."""
    from sessions.running.recording import reply_of_run

    model = session.model_of(column)
    for run in runs:
        reply = reply_of_run(run, model, raw) if run.attempts else None
        failure = run.error
        asked = [one for attempt in run.attempts for one in attempt.request.get("messages") or ()]
        messages = [(str(one.get("role", "")), text_of(one.get("content"))) for one in asked]
        yield PastRun(
            at=datetime.now().isoformat(timespec="milliseconds"),
            case=case,
            column=column.id,
            model=model,
            phase="cancelled" if run.cancelled else "done" if failure is None else "failed",
            seconds=round(sum(one.duration_ms for one in run.attempts) / 1000, 3),
            text=reply.text if reply is not None else "",
            error=f"{failure.phase}: {failure.message}"[:LONGEST_ERROR] if failure is not None else "",
            values={name: plain(value) for name, value in run.values.items()} if run.ok and not raw else {},
            adapter=column.adapter,
            session=session.name,
            path=path,
            messages=tuple(dict.fromkeys(messages)),
        )


def plain_words(error: Exception) -> str:
    """Explain why runs cannot be stored or read."""
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"the kept runs are damaged ({error}); `workbench runs --clear` begins again"
    # an error that Python itself raises has no name
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return f"{sent_file()}: {error} (free some space, or delete the kept runs with `workbench runs --clear`)"
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {explain(error)[0]}"
    return str(error)


def text_of(content: object) -> str:
    """Return the text of a message's content; parts without text are shown as `[type]`."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(one.get("text", f"[{one.get('type')}]")) for one in parts if isinstance(one, Mapping))


def _parts(session: Session | None, case: str, scrubber: Scrubber) -> list[bytes]:
    """Return the session without its cases, and the case as it was sent, as JSON; [] for a huge session."""
    if session is None:
        return []
    sent = replace(session.case(case), recordings={}, replies={}, measured={})
    data = scrubber.json(json.loads(store.dumps(replace(session, cases=(sent,)))))
    parts = [json.dumps(one).encode() for one in (data | {"cases": []}, data["cases"][0])]
    return parts if sum(map(len, parts)) <= LARGEST_SESSION else []


def _head(stored: str) -> dict[str, Any]:
    return {name: value for name, value in json.loads(stored).items() if name in HEAD}


def _where(wanted: Wanted) -> tuple[str, list[object]]:
    """Return the SQL condition of a search and its parameters."""
    conditions: list[tuple[str, object]] = []
    for word in list(dict.fromkeys(re.findall(r"\w+", wanted.words)))[:MOST_WORDS]:
        found = "SELECT run FROM pieces JOIN words ON pieces.text = words.rowid WHERE words MATCH ?"
        conditions.append((f"runs.id IN ({found})", f'"{_readable(_spaced(word))}"*'))
    asked = (
        ("instr(lower(model), ?)", wanted.model.lower()),
        ("adapter = ?", wanted.adapter),
        ("at >= ?", wanted.since),
        ("at < ? || '~'", wanted.until),
        ("path = ?", wanted.path),
    )
    conditions += [(condition, _readable(value)) for condition, value in asked if value]
    if wanted.failed:
        conditions.append(("failed = ?", 1))
    if wanted.folder:
        folder = _readable(os.path.join(wanted.folder, ""))
        conditions.append((f"substr(path, 1, {len(folder)}) = ?", folder))
    if wanted.case is not None:
        conditions.append(("case_name = ?", _readable(wanted.case)))
    text = " AND ".join(condition for condition, _ in conditions)
    return f"WHERE {text}" if text else "", [value for _, value in conditions]


def _stored(opened: sqlite3.Connection, table: str, body: bytes) -> int:
    """Return the id of a text or part; insert it if it is new."""
    sha = hashlib.sha256(body).digest()
    row = opened.execute(f"SELECT id FROM {table} WHERE sha = ?", (sha,)).fetchone()
    if row is not None:
        return int(row[0])
    value = "CAST(? AS TEXT)" if table == "texts" else "?"
    id = opened.execute(f"INSERT INTO {table} (sha, body) VALUES (?, {value})", (sha, body)).lastrowid or 0
    if table == "texts":
        opened.execute(f"INSERT INTO words (rowid, body) {INDEXED} WHERE id = ?", (id,))
    return id


def _open(file: Path | None) -> sqlite3.Connection:
    """Open the file, readable only by its owner. Text may contain unpaired surrogates."""
    if file is not None:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    opened = sqlite3.connect(file or ":memory:", check_same_thread=False, timeout=10)
    opened.text_factory = lambda found: found.decode("utf-8", "surrogatepass")
    opened.create_function(
        "spaced", 1, lambda body: _spaced(body.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")
    )
    opened.executescript(TABLES)
    if opened.execute("PRAGMA user_version").fetchone()[0] < SPACED:  # of an earlier release, or new
        with opened:
            opened.execute("INSERT INTO words (words) VALUES ('delete-all')")
            opened.execute(f"INSERT INTO words (rowid, body) {INDEXED}")
            opened.execute(f"PRAGMA user_version = {SPACED}")
    return opened


def _spaced(text: str) -> str:
    """Put spaces around the characters of scripts without spaces between words, so that each is a word."""
    return _UNSPACED.sub(r" \1 ", text)


def _size(opened: sqlite3.Connection) -> int:
    pages, free, bytes_each = [
        opened.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    ]
    return int((pages - free) * bytes_each)


def _readable(text: str) -> str:
    """Replace unpaired surrogates, which SQLite parameters cannot contain."""
    return text.encode("utf-8", "replace").decode("utf-8")
