"""Opening, saving and leaving: the questions that are asked on the way, and what is never lost."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sessions import autosave, examples, restore_points, store
from sessions.errors import SessionError
from sessions.session import DEFAULT_COLUMNS, Session, SignatureText
from workbench.drafts import state_of, with_drafts
from workbench.path_names import why_no_file
from workbench.screens.ask import AskScreen
from workbench.screens.choose import ChooseScreen, Entry
from workbench.screens.confirm import Answer, ConfirmScreen
from workbench.widgets.plain import plain_notify

if TYPE_CHECKING:
    from workbench.app import WorkbenchApp

EXAMPLE = "example:"
MOST_LINES = 12
"""Lines of a difference that are shown in a question."""


async def open_session(app: WorkbenchApp) -> None:
    """Asks which session, and opens it; work that is not saved is asked about first."""
    from workbench.flows.browsing import choose_session

    chosen = await choose_session(app)
    if chosen is None or not await may_let_go(app):
        return
    if chosen.startswith(EXAMPLE):
        app.load(examples.load(chosen.removeprefix(EXAMPLE)), None)
        return
    open_path(app, Path(chosen).expanduser())


async def new_session(app: WorkbenchApp) -> None:
    """An empty session with the form of its signature open; work that is not saved is asked about first."""
    if await may_let_go(app):
        app.load(Session(SignatureText(""), columns=DEFAULT_COLUMNS, name="new session"), None)
        app.main.open_tab("signature")
        app.main.signature.show_as("form")


def open_path(app: WorkbenchApp, path: Path) -> bool:
    """Opens a file; what was open stays, with the reason said, when that fails."""
    try:
        found = store.open_file(path)
    except (SessionError, OSError, ValueError) as error:
        plain_notify(app, str(error), title="Not opened", severity="error", timeout=15)
        return False
    app.load(found.session, path, found.fingerprint)
    return True


async def save(app: WorkbenchApp) -> bool:
    """Saves to the session's file, asking for one if it has none. False when it was not saved."""
    if app.document.path is None:
        return await save_as(app)
    path, fingerprint = app.document.path, app.document.fingerprint
    if fingerprint is not None and store.has_changed(path, fingerprint):
        return await _settle_change(app, path)
    return _write(app, path)


async def _settle_change(app: WorkbenchApp, path: Path) -> bool:
    """Asks what is to become of a file that another program has changed. False when ours was not saved."""
    try:
        lines = store.difference(app.document.session, path)
    except SessionError as error:
        lines = (str(error),)
    more = [f"… and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    shown = "\n".join([line[:120] for line in lines[:MOST_LINES]] + more)
    answer = await app.push_screen_wait(
        ConfirmScreen(
            "Changed on disk",
            f"Another program has changed {path.name} since it was opened (- in the file, + yours):\n\n{shown}",
            [
                Answer("theirs", "r", "Reload it", "yours stays among the earlier versions"),
                Answer("mine", "k", "Keep mine", "the file's stays among the earlier versions"),
                Answer("other", "a", "Save mine under another name"),
            ],
        )
    )
    if answer == "mine":
        return _write(app, path)
    if answer == "other":
        return await save_as(app)
    if answer == "theirs":
        said = restore_points.keep_content(store.dumps(app.document.session).encode("utf-8"), path)
        if said:
            plain_notify(app, said, title="Not reloaded", severity="error", timeout=15)
        else:
            open_path(app, path)
    return False


async def restore_earlier(app: WorkbenchApp) -> None:
    """Asks which earlier content of the file to take up, as a change that can be undone."""
    points = restore_points.points(app.document.path)
    if not points:
        plain_notify(app, "Each save keeps what it replaces; there is nothing yet.", title="No earlier version")
        return
    entries = [
        Entry(str(point.place), f"{point.at.astimezone():%Y-%m-%d %H:%M:%S}", f"{point.size:,} bytes")
        for point in points
    ]
    chosen = await app.push_screen_wait(ChooseScreen("Restore an earlier version", entries))
    if chosen is None:
        return
    try:
        app.restore(store.load(chosen), "restore an earlier version")
    except SessionError as error:
        plain_notify(app, str(error), title="Not restored", severity="error", timeout=15)


async def save_as(app: WorkbenchApp) -> bool:
    """Asks for a file and saves to it. False when it was not saved."""
    name = re.sub(r"[^\w.-]+", "-", app.document.session.name)[:60].strip("-.") or "session"
    proposed = app.document.path or Path.cwd() / f"{name}.json"

    refuse = partial(why_no_file, example="questions.json")
    chosen = await app.push_screen_wait(AskScreen("Save as", str(proposed), refuse))
    if chosen is None:
        return False
    path = Path(chosen).expanduser()
    if path.exists() and path != app.document.path:
        question = f"{path} exists. Replace it?"
        answers = [Answer("yes", "y", "Replace it"), Answer("no", "n", "Keep it")]
        if await app.push_screen_wait(ConfirmScreen("Save as", question, answers)) != "yes":
            return False
    return _write(app, path)


async def leave(app: WorkbenchApp) -> None:
    """Ends the app, unless there is unsaved work that the user wants to go on with."""
    if not await may_let_go(app):
        return
    if app.document.state.drafts and not app.document.worth_asking:
        # what no file can hold is offered again the next time
        autosave.write(with_drafts(app.document.state), app.document.path)
    else:
        autosave.discard(app.document.path)
    app.exit()


async def may_let_go(app: WorkbenchApp) -> bool:
    """Whether what is open may be closed: it is saved, or the user says so."""
    if not app.document.worth_asking:
        return True
    name = app.document.path.name if app.document.path is not None else "This session"
    answer = await app.push_screen_wait(
        ConfirmScreen(
            "Unsaved changes",
            f"{name} has changes that are not saved.",
            [Answer("save", "s", "Save them"), Answer("drop", "d", "Drop them"), Answer("stay", "c", "Go on editing")],
        )
    )
    if answer == "save":
        return await save(app)
    return answer == "drop"


async def offer_left_over(app: WorkbenchApp) -> None:
    """Asks whether to take up work that was never saved, if there is any."""
    path = app.document.path
    why_not = autosave.why_not()
    if why_not:
        plain_notify(app, why_not, title="No copies of unsaved work", severity="warning", timeout=15)
    left = autosave.left_over(path)
    if left is None or left.session == app.document.session:
        return
    texts = state_of(left.session)
    only_texts = bool(texts.drafts) and texts.session == app.document.session
    what = "this session" if path is not None else "a session that has no file yet"
    answer = await app.push_screen_wait(
        ConfirmScreen(
            "Work that was not saved",
            f"Texts that are no values yet were left in {what}. They were kept at {left.at:%Y-%m-%d %H:%M:%S}."
            if only_texts
            else f"The app ended without saving {what} the last time. A copy of {left.at:%Y-%m-%d %H:%M:%S} was kept.",
            [
                Answer("take", "t", "Take it up"),
                Answer("leave", "f", "Leave it", "it stays among the earlier versions"),
            ],
        )
    )
    if answer is None:
        return
    if answer == "take":
        app.restore(left.session)
        autosave.write(left.session, path)
    autosave.put_away(left, path)


def _write(app: WorkbenchApp, path: Path) -> bool:
    session = app.document.session
    not_kept = restore_points.keep(path)
    try:
        fingerprint = store.save(session, path)
    except (SessionError, OSError, ValueError) as error:
        plain_notify(app, f"{path}: {error}", title="Not saved", severity="error", timeout=15)
        return False
    autosave.discard(app.document.path)
    app.document.mark_saved(path, fingerprint)
    app.past_runs.saved_as(path)
    app.main.show()
    drafts = len(app.document.state.drafts)
    if drafts:
        autosave.write(with_drafts(app.document.state), path)
        texts = "One text on screen is no value yet" if drafts == 1 else f"{drafts} texts on screen are no values yet"
        said = f"{texts}; the file has the last value, and the text is kept beside it for the next time."
        plain_notify(app, said, title=f"Saved {path.name}", severity="warning")
    else:
        app.main.say(f"saved; {not_kept}" if not_kept else "saved")
    return True
