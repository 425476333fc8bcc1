"""Saving, leaving and letting go of what is open: the questions asked on the way, and what is never lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.errors import SignatureError
from sessions.errors import SessionError
from sessions.file import autosave, restore_points, saving, store
from sessions.file.both_changes import CollisionError
from sessions.file.saving import Saved
from sessions.model.session import DEFAULT_COLUMNS, Case, Session, SignatureText
from sessions.source import linking
from workbench.state.document import Place, State
from workbench.state.drafts import state_of, with_drafts
from workbench.tui.actions.path_names import why_no_file
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.dialogs.confirm import Answer, ConfirmScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

SECONDS_OF_A_WARNING, SECONDS_OF_GOOD_NEWS = 10, 5
"""For how long the last line says that unsaved work is not kept, and that it is again."""
MOST_LINES = 12
"""Lines of a difference that are shown in a question."""
NEW = "new session"
"""What a session is called until it has a name."""
NAMELESS = ("", "Signature", "StringSignature")


async def new_session(host: Host) -> None:
    """An empty session with the form of its signature open; work that is not saved is asked about first."""
    if await may_let_go(host):
        host.load(Session(SignatureText(""), columns=DEFAULT_COLUMNS, name=NEW), None)
        host.main.editors.open("signature")
        host.main.editors.signature.show_as("form")


def open_path(host: Host, path: Path) -> bool:
    """Opens a file; what was open stays, with the reason said, when that fails."""
    refused = host.confinement.why_no_file(path)
    if refused:
        plain_notify(host.app, refused, title="Not opened", severity="error", timeout=15)
        return False
    try:
        found = store.open_file(path)
    except (SessionError, OSError, ValueError) as error:
        plain_notify(host.app, str(error), title="Not opened", severity="error", timeout=15)
        return False
    host.load(found.session, path, found.fingerprint)
    return True


async def save(host: Host) -> bool:
    """Saves to the session's file, with what the file gained meanwhile, asking for a file if there is none.

    Where both changed the same it is asked what is to stand. False when it was not saved.
    """
    document = host.document
    if document.path is None:
        return await save_as(host)
    path, fingerprint = document.path, document.fingerprint
    if fingerprint is None:
        return _overwrite(host, path)
    try:
        saved = saving.save(document.saved, document.session, path, since=fingerprint, parts=document.written)
    except (SessionError, OSError, ValueError) as error:
        if store.has_changed(path, fingerprint):
            return await _settle_change(host, path, error)
        return _not_saved(host, path, error)
    return _done(host, path, saved)


async def _settle_change(host: Host, path: Path, why: Exception) -> bool:
    """Asks what is to become of a file that another program has changed. False when ours was not saved."""
    try:
        lines = store.difference(host.document.session, path)
    except SessionError as error:
        lines = (str(error),)
    both: list[Answer] = []
    question = f"Another program has changed {path.name} since it was opened"
    if isinstance(why, CollisionError):
        places = ", ".join(why.places[:3]) + (" …" if len(why.places) > 3 else "")
        question = f"Another program has changed in {path.name} what you changed too: {places[:200]}"
        both = [Answer("both", "b", "Keep both", "and yours where both changed the same")]
    more = [f"… and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    shown = "\n".join([line[:120] for line in lines[:MOST_LINES]] + more)
    answer = await host.app.push_screen_wait(
        ConfirmScreen(
            "Changed on disk",
            f"{question} (- in the file, + yours):\n\n{shown}",
            [
                *both,
                Answer("theirs", "r", "Reload it", "yours stays among the earlier versions"),
                Answer("mine", "k", "Keep mine", "the file's stays among the earlier versions"),
                Answer("other", "a", "Save mine under another name"),
            ],
        )
    )
    if answer == "both":
        return _save_both(host, path)
    if answer == "mine":
        return _overwrite(host, path)
    if answer == "other":
        return await save_as(host)
    if answer == "theirs":
        said = restore_points.keep_content(store.dumps(host.document.session).encode("utf-8"), path)
        if said:
            plain_notify(host.app, said, title="Not reloaded", severity="error", timeout=15)
        else:
            open_path(host, path)
    return False


async def restore_earlier(host: Host) -> None:
    """Asks which earlier content of the file to take up, as a change that can be undone."""
    points = restore_points.points(host.document.path)
    if not points:
        plain_notify(host.app, "Each save keeps what it replaces; there is nothing yet.", title="No earlier version")
        return
    entries = [
        Entry(str(point.place), f"{point.at.astimezone():%Y-%m-%d %H:%M:%S}", f"{point.size:,} bytes")
        for point in points
    ]
    chosen = await host.app.push_screen_wait(ChooseScreen("Restore an earlier version", entries))
    if chosen is None:
        return
    try:
        host.restore(store.load(chosen), "restore an earlier version")
    except SessionError as error:
        plain_notify(host.app, str(error), title="Not restored", severity="error", timeout=15)


async def save_as(host: Host) -> bool:
    """Asks for a file and saves to it. False when it was not saved."""
    proposed = host.document.path or Path.cwd() / f"{_file_name(host.document.session)}.session.json"

    refuse = partial(why_no_file, example="questions.session.json", confinement=host.confinement)
    chosen = await host.app.push_screen_wait(AskScreen("Save as", str(proposed), refuse))
    if chosen is None:
        return False
    path = Path(chosen).expanduser()
    if path.exists() and path != host.document.path:
        question = f"{path} exists. Replace it?"
        answers = [Answer("yes", "y", "Replace it"), Answer("no", "n", "Keep it")]
        if await host.app.push_screen_wait(ConfirmScreen("Save as", question, answers)) != "yes":
            return False
    _relink(host, path)
    return _overwrite(host, path)


def _file_name(session: Session) -> str:
    """A name for the file of a session; of one without a name of its own that of its signature's class."""
    name = session.name
    if name == NEW:
        try:
            written = session.signature.read().name
        except SignatureError:
            written = ""
        if written not in NAMELESS:
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", written).lower()
    return re.sub(r"[^\w.-]+", "-", name)[:60].strip("-.") or "session"


def _relink(host: Host, path: Path) -> None:
    """A link to a program is relative to the session's folder, which becomes another one."""
    before = host.document.folder
    signature = linking.moved(host.document.session.signature, before, path.parent)
    if signature is not host.document.session.signature:
        made = replace(host.document.session, signature=signature)
        host.main.edit(lambda state: replace(state, session=made), Place("session"), "save in another folder")


async def leave(host: Host) -> None:
    """Ends the app, unless there is unsaved work that the user wants to go on with."""
    if not await _may_let_changes_go(host):
        return
    if host.document.state.drafts and not host.document.dirty:
        # what no file can hold is offered again the next time
        why_not = autosave.write(with_drafts(host.document.state), host.document.path)
        if why_not and not await _may_let_texts_go(host, f"cannot be kept for the next time: {why_not}"):
            return
    else:
        autosave.discard(host.document.path)
    host.app.exit()


async def may_let_go(host: Host) -> bool:
    """Whether another session may take the place of what is open: it is saved, or the user says so; and of texts that
    no file can hold the user says so."""
    if not await _may_let_changes_go(host):
        return False
    if not host.document.state.drafts or host.document.dirty:  # dropped, with all that was typed
        return True
    return await _may_let_texts_go(host, "no file can hold that")


async def _may_let_texts_go(host: Host, why: str) -> bool:
    question = f"{_texts(len(host.document.state.drafts))}, and {why}."
    answers = [Answer("drop", "d", "Drop what was typed there"), Answer("stay", "c", "Go on editing")]
    return await host.app.push_screen_wait(ConfirmScreen("Texts that are no values yet", question, answers)) == "drop"


def _texts(count: int) -> str:
    return "One text on screen is no value yet" if count == 1 else f"{count} texts on screen are no values yet"


async def _may_let_changes_go(host: Host) -> bool:
    """Whether the session itself may go: it is saved, or the user says so."""
    if not host.document.dirty:
        return True
    name = host.document.path.name if host.document.path is not None else "This session"
    answer = await host.app.push_screen_wait(
        ConfirmScreen(
            "Unsaved changes",
            f"{name} has changes that are not saved.",
            [Answer("save", "s", "Save them"), Answer("drop", "d", "Drop them"), Answer("stay", "c", "Go on editing")],
        )
    )
    if answer == "save":
        return await save(host)
    return answer == "drop"


async def offer_left_over(host: Host) -> None:
    """Asks whether to take up work that was never saved, if there is any."""
    path = host.document.path
    why_not = autosave.why_not()
    if why_not:
        plain_notify(host.app, why_not, title="No copies of unsaved work", severity="warning", timeout=15)
    left = autosave.left_over(path)
    if left is None:
        return
    texts = state_of(left.session)
    if texts.session == host.document.session and not texts.drafts:
        return
    only_texts = bool(texts.drafts) and texts.session == host.document.session
    what = "this session" if path is not None else "a session that has no file yet"
    answer = await host.app.push_screen_wait(
        ConfirmScreen(
            "Work that was not saved",
            f"Texts that are no values yet were left in {what}. They were kept at {left.at:%Y-%m-%d %H:%M:%S}."
            if only_texts
            else f"The last time, the app ended without saving {what}. A copy of {left.at:%Y-%m-%d %H:%M:%S} was kept.",
            [
                Answer("take", "t", "Take it", "and go on with that copy"),
                Answer("leave", "l", "Leave it", "it stays among the earlier versions"),
            ],
        )
    )
    if answer is None:
        return
    if answer == "take":
        host.restore(left.session)
        autosave.write(left.session, path)
    autosave.put_away(left, path)


def say_of_copies(host: Host, why_not: str) -> None:
    """That unsaved work is no longer kept, should the app be killed, or is again."""
    said = f"unsaved work is not kept: {why_not}" if why_not else "unsaved work is kept again"
    host.main.status.say(said, SECONDS_OF_A_WARNING if why_not else SECONDS_OF_GOOD_NEWS)


def _save_both(host: Host, path: Path) -> bool:
    try:
        saved = saving.save(host.document.saved, host.document.session, path, "ours")
    except (SessionError, OSError, ValueError) as error:
        return _not_saved(host, path, error)
    return _done(host, path, saved)


def _overwrite(host: Host, path: Path) -> bool:
    try:
        saved = saving.overwrite(host.document.session, path)
    except (SessionError, OSError, ValueError) as error:
        return _not_saved(host, path, error)
    return _done(host, path, saved)


def _not_saved(host: Host, path: Path, error: Exception) -> bool:
    said = str(error) if isinstance(error, SessionError) and error.path else f"{path}: {error}"
    plain_notify(host.app, said, title="Not saved", severity="error", timeout=15)
    return False


def _done(host: Host, path: Path, saved: Saved) -> bool:
    """Takes over what the file had gained, as a change that can be undone, and says what was saved."""
    if saved.session is not host.document.session:
        host.main.edit(partial(_with_session, session=saved.session), Place("session"), f"take over from {path.name}")
    autosave.discard(host.document.path)
    host.document.mark_saved(path, saved.fingerprint)
    host.past_runs.saved_as(path)
    host.main.show()
    drafts = len(host.document.state.drafts)
    if drafts:
        why_not = autosave.write(with_drafts(host.document.state), path)
        kept = f"cannot be kept beside it: {why_not}" if why_not else "is kept beside it for the next time"
        said = f"{_texts(drafts)}; the file has the last value, and the text {kept}."
        plain_notify(host.app, said, title=f"Saved {path.name}", severity="warning")
    else:
        here = "saved in your folder here; `Download a file` takes it along" if host.confinement.hands_out else "saved"
        host.main.status.say(f"{here}; {saved.not_kept}" if saved.not_kept else here)
    if saved.taken:
        plain_notify(
            host.app, _gained(saved.taken, host.key_words), title=f"Saved, with what {path.name} gained", timeout=10
        )
    return True


def _gained(taken: tuple[str, ...], keys: Callable[[str], str]) -> str:
    """What the file had gained, and how it is undone here."""
    more = f" and {len(taken) - 3} more" if len(taken) > 3 else ""
    places = ", ".join(taken[:3])
    undone = keys("{app.undo|^z} takes it out again.")
    return f"Another program had changed the file too, and that stands here now: {places[:200]}{more}. {undone}"


def _with_session(state: State, session: Session) -> State:
    """The session in the place of the one on screen, at the same case where that is still there."""
    if not session.cases:
        session = replace(session, cases=(Case("case 1"),))
    names = [one.name for one in session.cases]
    index = names.index(state.case.name) if state.case.name in names else min(state.case_index, len(names) - 1)
    return replace(state, session=session, case_index=index)
