"""Deciding on what F9 found: the review of the open session, and what is accepted of it as a change of the document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sessions.causes.accepting import accepted
from sessions.causes.cause import FixtureName
from sessions.causes.finding import Causes
from sessions.checking import checking
from sessions.checking.verdicts import FixtureResult
from sessions.source.comparing import check_source, with_source
from sessions.source.linking import Follower
from sessions.source.project import SourceError
from workbench.checks.decisions import Decisions, of_open
from workbench.checks.reviewing import OpenLook, with_text
from workbench.output.display import one_line
from workbench.output.measures import counted
from workbench.state.document import Place
from workbench.tui.screens.review import Left, ReviewScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

THEN = "records"
"""Effect of leaving the review on what is accepted."""


def judged(host: Host, follower: Follower) -> list[FixtureResult]:
    """Check the session as it is on screen, its program included, as `workbench check` would once saved."""
    session = host.document.session
    results = checking.check(session, path_of(host))
    return with_source(results, check_source(session, host.document.folder, follower))


async def decide(host: Host, results: Sequence[FixtureResult]) -> None:
    """Shows what drifted by its cause; what is accepted is taken over, which undo takes back, and saved with ^s."""
    causes = Causes()
    causes.add(results)
    decisions = Decisions(causes.found())
    look = OpenLook(host.document.session, host.document.folder, results)
    name = host.document.path.name if host.document.path is not None else "this session"
    kept = of_open(host.document.path)
    left = await host.app.push_screen_wait(ReviewScreen(decisions, look, name, THEN, kept))
    if take(host, left):
        kept.remove()
    if left.go_to is not None:
        go_to(host, left.go_to[1])


def take(host: Host, left: Left) -> bool:
    """Takes over what is accepted, as the session and its program are now: a reply may have come in meanwhile.

    False when it could not be, which is said.
    """
    ids = left.decisions.accepted
    if not ids:
        return True
    session = host.document.session
    follower = Follower()
    try:
        text = with_text(session, host.document.folder, judged(host, follower), ids, follower)
    except SourceError as error:
        plain_notify(host.app, one_line(str(error), 300), title="The program", severity="error", timeout=10)
        return False
    done = accepted(text.session, checking.check(text.session, path_of(host)), ids)
    settled = len(done.settled | text.settled)
    count = f"{settled or 'no'} cause{'' if settled < 2 else 's'}"
    taken = "Pulled the program's text. " if text.was_pulled else ""
    waiting = f"{counted(done.waiting, 'waits', 'wait')} for another cause. " if done.waiting else ""
    waiting += f"{text.left[0].upper()}{one_line(text.left[1:], 300)}. " if text.left else ""
    waiting += "{app.check|F9} asks again. " if waiting else ""
    if done.session is not session:
        host.main.edit(lambda state: replace(state, session=done.session), Place("session"), f"accept {count}")
    keys = "{app.save|ctrl+s} saves it, {app.undo|ctrl+z} takes it back." if done.session is not session else ""
    said = f"{taken}{done.recorded} recorded again. {waiting}{keys}".rstrip()
    title = f"{count} accepted".capitalize() if settled or not waiting else "Accepted, waiting for another cause"
    plain_notify(host.app, host.key_words(said), title=title, timeout=10)
    return True


def path_of(host: Host) -> str:
    """Return the name of the open session in the names of fixtures."""
    return str(host.document.path) if host.document.path is not None else "this session"


def go_to(host: Host, fixture: FixtureName) -> None:
    """The prompt of a fixture, in its case."""
    names = [one.name for one in host.document.session.cases]
    if fixture.case not in names:
        plain_notify(host.app, f"The case {one_line(fixture.case, 60)} is gone.", severity="warning")
        return
    host.document.look_at_case(names.index(fixture.case))
    host.main.show()
    host.main.go_to(Place("column", fixture.case, field=fixture.column))
