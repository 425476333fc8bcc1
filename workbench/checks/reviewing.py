"""Reviewing: the causes of what a check finds in files, and writing those that are accepted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from adapters.formats.base import Adapter
from sessions.causes.accepting import accepted
from sessions.causes.cause import Cause, FixtureName
from sessions.causes.finding import Causes, causes_of
from sessions.checking import checking as fixtures
from sessions.checking.verdicts import Drift, FixtureResult
from sessions.errors import SessionError
from sessions.file import restore_points, store
from sessions.file.store import Fingerprint
from sessions.model.session import Recording, Session
from sessions.source.linking import Follower
from sessions.source.project import SourceEditedError
from sessions.source.pulling import pulled, refuse_to_lose_edits
from workbench.checks.checking import Checked, Plan, adapters_of_the_user, check_all, check_file, wanted_of
from workbench.checks.decisions import Decisions, KeptDecisions


@dataclass(frozen=True)
class Review:
    """The result of a check: causes, most fixtures first; each file's outcome; unreadable files by path.

    `seen` is the content that each file had: what is decided of it is not written into another.
    """

    causes: tuple[Cause, ...]
    checked: tuple[Checked, ...]
    seen: Mapping[Path, Fingerprint] = field(default_factory=dict)

    @property
    def errors(self) -> dict[str, str]:
        return {str(one.path): one.error for one in self.checked if one.error}

    def files_of(self, ids: Collection[str]) -> list[Path]:
        """The files in which causes of these ids show, in the order of the check."""
        paths = {fixture.path for cause in self.causes if cause.id in ids for fixture in cause.fixtures}
        return [one.path for one in self.checked if str(one.path) in paths]


class Whole(NamedTuple):
    """A fixture as it is recorded, and as accepting all its causes would record it."""

    before: Recording
    after: Recording


class Look(Protocol):
    """Find what a review shows of a fixture."""

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        """The drifts of a fixture that show a cause."""

    def whole(self, fixture: FixtureName) -> Whole | None:
        """All of it; None where nothing is recorded, or recording anew would change nothing."""


Decide = Callable[[Review, Callable[[], Review], Look, str, KeptDecisions], tuple[Review, Decisions | None]]
"""Has a person decide on a review, or on what there is `again` later, of what is named; None: that was broken off.

What is decided is kept meanwhile.
"""


@dataclass(frozen=True)
class Written:
    """The outcome of a file: fixtures recorded, fixtures waiting for another cause, or its error.

    `settled`: the ids of the accepted causes that came to something here. `text_left`: why its program's text was not
    pulled although a cause of it is accepted.
    """

    path: Path
    recorded: int = 0
    waiting: int = 0
    pulled: bool = False
    settled: frozenset[str] = frozenset()
    text_left: str = ""
    error: str = ""


def review(files: Sequence[Path], plan: Plan, jobs: int = 1) -> Review:
    """Checks the files and groups what drifts. Raises `CommandError` as a check does."""
    causes = Causes()
    checked: list[Checked] = []
    seen = {path: found for path in files if (found := store.fingerprint(path)) is not None}
    for one in check_all(files, plan, jobs):
        causes.add(one.results)
        checked.append(Checked(one.path, error=one.error, nothing=one.nothing))
    return Review(causes.found(), tuple(checked), seen)


class FilesLook:
    """Look at fixtures in files; the check of the last file is kept."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._last: Checked | None = None

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        """The drifts of a fixture that show a cause, as they are now; none where it does not show it any more.

        Where the program says otherwise, those that pulling its text would bring come behind.
        """
        if self._last is None or str(self._last.path) != fixture.path:
            self._last = check_file(Path(fixture.path), self._plan, None, Follower())
        found = drifts_of(cause, fixture, self._last.results)
        if not found or cause.key.kind != "source":
            return found
        path = Path(fixture.path)
        try:
            session = store.load(path)
        except SessionError:  # gone since it was checked: what was found stays what is known
            return found
        return (*found, *once_pulled(session, path.parent, fixture, self._plan))

    def whole(self, fixture: FixtureName) -> Whole | None:
        try:
            session = store.load(fixture.path)
            return whole_of(session, fixture, adapters_of_the_user(session, self._plan.adapters))
        except (SessionError, ValueError):  # gone or another since it was checked
            return None


@dataclass(frozen=True)
class OpenLook:
    """The same of a session that is open, which stands in `folder`, and of what a check of it has found."""

    session: Session
    folder: Path
    results: Sequence[FixtureResult]

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        found = drifts_of(cause, fixture, self.results)
        if not found or cause.key.kind != "source":
            return found
        return (*found, *once_pulled(self.session, self.folder, fixture, Plan()))

    def whole(self, fixture: FixtureName) -> Whole | None:
        return whole_of(self.session, fixture)


def whole_of(session: Session, fixture: FixtureName, adapters: Mapping[str, Adapter] | None = None) -> Whole | None:
    """A fixture of a session as it is recorded and as it would be; None where that is the same, or it is not there."""
    before = _recording(session, fixture)
    if before is None:
        return None
    made = fixtures.update(session, columns=[fixture.column], cases=[fixture.case], adapters=adapters)
    after = _recording(made, fixture)
    return Whole(before, after) if after is not None and after is not before else None


def _recording(session: Session, fixture: FixtureName) -> Recording | None:
    case = next((one for one in session.cases if one.name == fixture.case), None)
    return case.recordings.get(fixture.column) if case is not None else None


def once_pulled(session: Session, folder: Path, fixture: FixtureName, plan: Plan) -> Iterator[Drift]:
    """Yield how a recording would drift with the program's text; nothing where that cannot be taken."""
    try:
        taken = pulled(session, folder, Follower()).session
        own = adapters_of_the_user(taken, plan.adapters)
        results = fixtures.check(taken, fixture.path, cases=[fixture.case], columns=[fixture.column], adapters=own)
    except (SessionError, ValueError):  # the cause itself says why: it is gone, refused, or cannot be read
        return
    for drift in (one for result in results for one in result.drift if one.part in ("render", "parse")):
        yield replace(drift, place=f"once pulled, {drift.place}")


def drifts_of(cause: Cause, fixture: FixtureName, results: Sequence[FixtureResult]) -> tuple[Drift, ...]:
    """Return the drifts of a fixture that show a cause, from a check's findings."""
    found = next((one for one in results if (one.case, one.column) == (fixture.case, fixture.column)), None)
    return tuple(causes_of(found).get(cause.key, ())) if found is not None else ()


def accept(path: Path, ids: Collection[str], plan: Plan, seen: Fingerprint | None = None) -> Written:
    """Accepts the causes of these ids in a file: it is checked anew and written once, whole, or left as it is.

    A file that holds something else than it did when it was reviewed (`seen`), or that changes meanwhile, is left, and
    `error` says so. Never raises for what a file holds.
    """
    try:
        opened = store.open_file(path)
        session = opened.session
        if seen is not None and opened.fingerprint != seen:
            changed = "it changed since the review and was not written; review it again"
            return Written(path, error=f"{path}: {changed}")
        follower = Follower()
        checked = check_file(path, plan, None, follower)
        if checked.error:
            return Written(path, error=checked.error)
        text = with_text(session, path.parent, checked.results, ids, follower)
        session, results = text.session, checked.results
        own = adapters_of_the_user(session, plan.adapters)
        if text.was_pulled:
            wanted = wanted_of(session, str(path), plan)
            results = tuple(fixtures.check(session, str(path), adapters=own, wanted=wanted))
        done = accepted(session, results, ids, own)
        if done.session is opened.session:
            return Written(path, waiting=done.waiting, text_left=text.left)
        restore_points.keep(path)
        store.save(done.session, path, over=opened.fingerprint)
    except (SessionError, ValueError) as error:
        return Written(path, error=str(error))
    return Written(path, done.recorded, done.waiting, text.was_pulled, done.settled | text.settled, text.left)


@dataclass(frozen=True)
class WithText:
    """A session with its program's text where that was accepted; `left`: why it was left although it was, in words.

    `settled`: the ids of the causes that this text was accepted for; none where it was left.
    """

    session: Session
    settled: frozenset[str] = frozenset()
    left: str = ""

    @property
    def was_pulled(self) -> bool:
        return bool(self.settled)


def with_text(
    session: Session, folder: Path, results: Sequence[FixtureResult], ids: Collection[str], follower: Follower
) -> WithText:
    """The session, of which a check says `results`, with the program's text if all that it says otherwise is accepted.

    The text is one thing: where it has two changes, taking it over for one of them would take the other unseen.
    Nor does it end edits of the session's own, which `workbench push` writes into the program. Raises `SourceError`.
    """
    changes = frozenset([key.id for result in results for key in causes_of(result) if key.kind == "source"])
    if not changes & set(ids):
        return WithText(session)
    try:
        refuse_to_lose_edits(session, folder, follower)
    except SourceEditedError as error:
        return WithText(session, left=f"the program's text is not pulled: {error}")
    if not changes <= set(ids):
        return WithText(session, left="the program's text waits for another cause")
    return WithText(pulled(session, folder, follower).session, changes)
