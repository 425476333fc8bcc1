"""Run the stress test of the open case, and bring a damaged reply into a column."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adapters.errors import SignatureError
from sessions.model.replies import Reply
from sessions.stress import grid
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.screens.stress import StressScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def break_replies(host: Host) -> None:
    """Show which parsers survive which damaged replies of the open case; taking a reply can be undone."""
    if len(host.app.screen_stack) > 1:
        return
    session, case = host.document.session, host.document.state.case
    try:
        session.signature.read()
    except (SignatureError, ValueError, RecursionError) as error:
        said = f"{error} Fix the signature first: no reply can be parsed without it."
        plain_notify(host.app, said, title="Nothing to break", severity="warning")
        return
    make = partial(grid.grid_of, session, case, grid.every_adapter(session))
    name = host.document.path.name if host.document.path is not None else session.name or "this session"
    taken = await host.app.push_screen_wait(StressScreen(make, name, frozenset([one.id for one in session.columns])))
    if taken is not None:
        reply = Reply(taken.text, source="edited")
        host.main.runs.forget(case.name, taken.column)
        change = partial(edits.set_reply, case=case.name, column=taken.column, reply=reply)
        place = Place("reply", case.name, field=taken.column)
        host.main.edit(change, place, "a broken reply")
        host.main.go_to(place)  # what a key changes is in sight
