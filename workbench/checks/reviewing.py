"""Review causes of drift in files, and write the accepted ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from adapters.formats.base import Adapter
from adapters.late_dataclasses import dataclass, field, replace
from sessions.causes.cause import Cause, FixtureName
from sessions.causes.finding import Causes, accepted, causes_of
from sessions.checking import checking as fixtures
from sessions.checking.verdicts import Drift, FixtureResult
from sessions.errors import SessionError
from sessions.file import saving, store
from sessions.model.session import Recording, Session
from sessions.source.linking import Follower
from sessions.source.project import SourceEditedError
from sessions.source.pull_push import pulled, refuse_to_lose_edits
from workbench.checks.checking import Checked, Plan, adapters_of_the_user, check_all, check_file, wanted_of
from workbench.checks.decisions import Decisions, KeptDecisions


@dataclass(frozen=True)
class Review:
    """The result of a check: causes, changed verdicts first, and each file's outcome.

    `seen` contains each file's fingerprint: decisions are not written to a file that changed since.
    """

    causes: tuple[Cause, ...]
    checked: tuple[Checked, ...]
    seen: Mapping[Path, store.Fingerprint] = field(default_factory=dict)

    @property
    def is_of_something(self) -> bool:
        """Return whether anything recorded or expected was compared."""
        return any(not (one.error or one.nothing) for one in self.checked)

    @property
    def errors(self) -> dict[str, str]:
        return {str(one.path): one.error for one in self.checked if one.error}


class Whole(NamedTuple):
    """A fixture's recording, and the recording after accepting all its causes."""

    before: Recording
    after: Recording


class Look(Protocol):
    """Looks up what a review shows of a fixture."""

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        """Return the drifts of a fixture that show a cause."""

    def whole(self, fixture: FixtureName) -> Whole | None:
        """Return the whole change, or None if nothing is recorded, or recording again changes nothing."""


Decide = Callable[[Review, Callable[[], Review], Look, str, KeptDecisions], tuple[Review, Decisions | None]]
"""Asks a person to decide on a review, and on later reviews made by `again`; None if cancelled.

The text names the reviewed files. Decisions are persisted meanwhile.
"""


@dataclass(frozen=True)
class Written:
    """The outcome of a file: fixtures recorded, fixtures waiting for another cause, or its error.

    `settled` contains the ids of the accepted causes that took effect. `text_left` is the reason why the program's text
    was not pulled, although one of its causes is accepted.
    """

    path: Path
    recorded: int = 0
    waiting: int = 0
    pulled: bool = False
    settled: frozenset[str] = frozenset()
    text_left: str = ""
    error: str = ""


def review(files: Sequence[Path], plan: Plan, jobs: int = 1) -> Review:
    """Check the files and group drift by cause. Raises `CommandError` like a check."""
    causes = Causes()
    checked: list[Checked] = []
    seen = {path: found for path in files if (found := store.fingerprint(path)) is not None}
    for one in check_all(files, plan, jobs):
        causes.add(one.results)
        is_empty = all(each.is_empty for each in one.results)
        nothing = "nothing is recorded" if is_empty else ""
        checked.append(Checked(one.path, error=one.error, nothing=nothing, names=one.names))
    return Review(causes.found(), tuple(checked), seen)


@dataclass(eq=False)
class FilesLook:
    """Looks up fixtures in files. The last file and its check are cached."""

    _plan: Plan
    _last: tuple[str, OpenLook | None] = ("", None)

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        """Return a fixture's current drifts that show a cause; empty if it no longer does."""
        look = self._look_into(fixture.path)
        return look(cause, fixture) if look is not None else ()

    def whole(self, fixture: FixtureName) -> Whole | None:
        look = self._look_into(fixture.path)
        return look.whole(fixture) if look is not None else None

    def _look_into(self, path: str) -> OpenLook | None:
        if self._last[0] != path:
            look = None
            with suppress(SessionError):  # gone or changed since the check
                results = check_file(Path(path), self._plan, None, Follower()).results
                look = OpenLook(store.load(path), Path(path).parent, results, self._plan)
            self._last = path, look
        return self._last[1]


@dataclass(frozen=True)
class OpenLook:
    """Looks up fixtures of the open session in `folder`, from the results of its check."""

    session: Session
    folder: Path
    results: Sequence[FixtureResult]
    plan: Plan = field(default_factory=Plan)

    def __call__(self, cause: Cause, fixture: FixtureName) -> tuple[Drift, ...]:
        """Return the drifts that show a cause; those of a program are followed by what pulling its text would cause."""
        results = [one for one in self.results if (one.case, one.column) == (fixture.case, fixture.column)]
        found = tuple(causes_of(results[0]).get(cause.key, ())) if results else ()
        if not found or cause.key.kind != "source":
            return found
        return (*found, *self._once_pulled(fixture))

    def _once_pulled(self, fixture: FixtureName) -> Iterator[Drift]:
        """Yield how a recording would drift with the program's text; empty if it cannot be pulled."""
        try:
            taken = pulled(self.session, self.folder, Follower()).session
            own = adapters_of_the_user(taken, self.plan.adapters)
            results = fixtures.check(taken, fixture.path, cases=[fixture.case], columns=[fixture.column], adapters=own)
        except (SessionError, ValueError):  # the cause itself gives the reason: missing, refused or unreadable
            return
        for drift in (one for result in results for one in result.drift if one.part in ("render", "parse")):
            yield replace(drift, place=f"once pulled, {drift.place}")

    def whole(self, fixture: FixtureName) -> Whole | None:
        return whole_of(self.session, fixture, adapters_of_the_user(self.session, self.plan.adapters))


def whole_of(session: Session, fixture: FixtureName, adapters: Mapping[str, Adapter] | None = None) -> Whole | None:
    """Return a fixture's recording now and after accepting, or None if equal, or not recorded."""
    before = _recording(session, fixture)
    if before is None:
        return None
    made = fixtures.update(session, columns=[fixture.column], cases=[fixture.case], adapters=adapters)
    after = _recording(made, fixture)
    return Whole(before, after) if after is not None and after is not before else None


def _recording(session: Session, fixture: FixtureName) -> Recording | None:
    case = next((one for one in session.cases if one.name == fixture.case), None)
    return case.recordings.get(fixture.column) if case is not None else None


def accept(path: Path, ids: Collection[str], plan: Plan, seen: store.Fingerprint | None = None) -> Written:
    """Accept these causes in a file, which is checked again and then written once or not at all.

    A file whose content differs from the review (`seen`), or changes meanwhile, is not written, and `error` says so.
    Never raises for the content of a file.
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
        text = add_program_text(session, path.parent, checked.results, ids, follower)
        session, results = text.session, checked.results
        own = adapters_of_the_user(session, plan.adapters)
        if text.settled:
            wanted = wanted_of(session, str(path), plan)
            results = tuple(fixtures.check(session, str(path), adapters=own, wanted=wanted))
        done = accepted(session, results, ids, own)
        if done.session is opened.session:
            return Written(path, waiting=done.waiting, text_left=text.left)
        saving.keep_restore_point(path)
        store.save(done.session, path, over=opened.fingerprint)
    except (SessionError, ValueError) as error:
        return Written(path, error=str(error))
    return Written(path, done.recorded, done.waiting, bool(text.settled), done.settled | text.settled, text.left)


@dataclass(frozen=True)
class WithText:
    """A session with its program's text if that was accepted. `left` is the reason why it was not pulled.

    `settled` contains the ids of the causes for which the text was accepted; empty if it was not pulled.
    """

    session: Session
    settled: frozenset[str] = frozenset()
    left: str = ""


def add_program_text(
    session: Session, folder: Path, results: Sequence[FixtureResult], ids: Collection[str], follower: Follower
) -> WithText:
    """Pull the program's text if all its changes in `results`, a check of the session, are accepted.

    The text can only be pulled as a whole: pulling it for one of two changes would include the other unseen. It is
    not pulled if the session has edits, which `workbench push` writes into the program. Raises `SourceError`.
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
