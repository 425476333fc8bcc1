"""Save, restore and close sessions, asking before anything is lost."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from sessions.errors import SessionError, counted, few
from sessions.file import autosave, saving, store
from sessions.file.both_changes import CollisionError
from sessions.model.session import DEFAULT_COLUMNS, Case, Session, SignatureText
from sessions.source import linking
from workbench.output.display import one_line
from workbench.state.document import Place, State, session_with_drafts, state_of
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.host import Ended, Host, answer_to, ends_on
from workbench.tui.panes.notes import name_of
from workbench.tui.widgets.text.plain import plain_notify

MOST_LINES = 12
"""Maximum lines of a difference in a dialog."""
NEW = "new session"
"""The name of a session before it gets its own."""
KEEP_EDITING = Answer("stay", "c", "Keep editing")


async def new_session(host: Host) -> None:
    """Open an empty session with its form, after asking about unsaved changes."""
    await confirm_close(host)
    host.load(Session(SignatureText(""), columns=DEFAULT_COLUMNS, name=NEW), None)
    host.main.editors.open("signature")
    host.main.editors.signature.show_as("form")
    if host.preferences.wants_guide:
        host.guidance.show("own")


def open_path(host: Host, path: Path) -> bool:
    """Open a file; on failure, report the reason and keep the open session."""
    refused = host.confinement.why_no_file(path)
    try:
        if refused:
            raise ValueError(refused)
        found = store.open_file(path)
    except (SessionError, OSError, ValueError) as error:
        plain_notify(host.app, str(error), title="Not opened", severity="error", timeout=15)
        return False
    host.load(found.session, path, found.fingerprint)
    return True


async def save(host: Host) -> None:
    """Save to the session's file, merging changes made on disk; without a file, ask for one.

    If both changed the same place, ask which version to keep.
    """
    document = host.document
    path, fingerprint = document.path, document.fingerprint
    if path is None:
        await save_as(host)
    elif fingerprint is None:
        _write(host, path, lambda: saving.overwrite(document.session, path))
    else:
        merge = partial(saving.save, document.saved, document.session, path, since=fingerprint, parts=document.written)
        try:
            _write(host, path, merge)
        except Ended as ended:
            if not store.has_changed(path, fingerprint):
                raise
            await _settle_change(host, path, ended.__cause__)


async def _settle_change(host: Host, path: Path, why: BaseException | None) -> None:
    """Ask what to do about a file that was changed on disk."""
    document = host.document
    try:
        lines = store.difference(document.session, path)
    except SessionError as error:
        lines = (str(error),)
    both: list[Answer] = []
    question = f"{path.name} was changed on disk since you opened it"
    if isinstance(why, CollisionError):
        places = ", ".join(why.places[:3]) + (" …" if len(why.places) > 3 else "")
        question = f"{path.name} was changed on disk in the same places: {places[:200]}"
        both = [Answer("both", "b", "Keep both", "Yours wins where both changed the same place")]
    more = [f"… and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    shown = "\n".join([line[:120] for line in lines[:MOST_LINES]] + more)
    answers = [
        *both,
        Answer("theirs", "r", "Reload", "Yours stays under Restore an earlier version"),
        Answer("mine", "k", "Keep mine", "The version on disk stays under Restore an earlier version"),
        Answer("other", "a", "Save mine under another name"),
    ]
    question = f"{question} (- in the file, + yours):\n\n{shown}"
    answer = await answer_to(host, ConfirmScreen("Changed on disk", question, answers))
    if answer == "both":
        _write(host, path, lambda: saving.save(document.saved, document.session, path, "ours"))
    elif answer == "mine":
        _write(host, path, lambda: saving.overwrite(document.session, path))
    elif answer == "other":
        await save_as(host)
    else:
        said = saving.keep_content(store.dumps(document.session).encode("utf-8"), path)
        if said:
            raise Ended(said, "Not reloaded", "error")
        open_path(host, path)
        raise Ended


async def restore_earlier(host: Host) -> None:
    """Ask which earlier version to restore; undo reverts that."""
    points = saving.restore_points(host.document.path)
    if not points:
        raise Ended("Each save keeps the version it replaces.", "No earlier version", "information")
    entries = [
        Entry(str(point.place), f"{point.at.astimezone():%Y-%m-%d %H:%M:%S}", f"{point.size:,} bytes")
        for point in points
    ]
    chosen = await answer_to(host, ChooseScreen("Restore an earlier version", entries))
    with ends_on(SessionError, title="Not restored"):
        host.restore(store.load(chosen), "restore an earlier version")


async def save_as(host: Host) -> None:
    """Ask for a file and save to it."""
    document = host.document
    proposed = document.path or Path.cwd() / f"{_file_name(document.session)}.session.json"
    refuse = partial(host.confinement.why_no_name, example="questions.session.json")
    chosen = await answer_to(host, AskScreen("Save as", str(proposed), refuse, is_path=True))
    path = Path(chosen).expanduser()
    if not path.suffix and path != document.path:
        path = path.with_name(f"{path.name}.session.json")
    if path != document.path:
        await confirm_replace(host, path, "Save as")
    # a link to a program is relative to the session's folder
    before = document.folder
    signature = linking.moved(document.session.signature, before, path.parent)
    if signature is not document.session.signature:
        made = replace(document.session, signature=signature)
        host.main.edit(lambda state: replace(state, session=made), Place("session"), "save in another folder")
    name = path.name.removesuffix(".json").removesuffix(".session")
    if document.session.name == NEW and name:
        named = replace(document.session, name=name)
        host.main.edit(lambda state: replace(state, session=named), Place("session"), "name the session")
    _write(host, path, lambda: saving.overwrite(document.session, path))


async def confirm_replace(host: Host, path: Path, title: str) -> None:
    """Ask whether to replace a file, if there is one."""
    answers = [Answer("yes", "y", "Replace"), Answer("no", "n", "Cancel")]
    question = f"{path} exists. Replace it?"
    if os.path.exists(path) and await answer_to(host, ConfirmScreen(title, question, answers)) != "yes":
        raise Ended


def _file_name(session: Session) -> str:
    """Return a proposed file name, from the session's name, or else its signature's class or fields."""
    name = session.name
    if name == NEW:
        try:
            read = session.signature.read()
        except SignatureError:
            return "session"
        ends = [next(iter(fields), "") for fields in (read.input_fields, read.output_fields)]
        written = read.name if read.name not in ("", "Signature", "StringSignature") else "-".join(filter(None, ends))
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", written).lower()
    return re.sub(r"[^\w.-]+", "-", name)[:60].strip("-.") or "session"


async def leave(host: Host) -> None:
    """Quit, after asking about active runs, unsaved changes and invalid values."""
    document = host.document
    await _confirm_runs(host)
    await _confirm_unsaved(host)
    if document.state.drafts and not document.dirty:
        # invalid values cannot be saved in a file, so they are offered again at the next start
        why_not = autosave.write(session_with_drafts(document.state), document.path)
        kept = f"The typed text {f'cannot be kept: {why_not}' if why_not else 'is offered at the next start.'}"
        await _confirm_invalid(host, kept, Answer("quit", "q", "Quit"))
    else:
        autosave.discard(document.path)
    host.app.exit()


async def confirm_close(host: Host) -> None:
    """Ask about active runs, unsaved changes and invalid values before the session closes.

    Changes of the first example are kept as a restore point instead, because its guide asks for them.
    """
    document = host.document
    await _confirm_runs(host)
    if host.guidance.kind == "first" and document.path is None and document.dirty and not document.state.drafts:
        if not saving.keep_content(store.dumps(document.session).encode("utf-8"), None):
            host.main.status.say("the first example is under Restore an earlier version")
            return
    await _confirm_unsaved(host)
    if host.document.state.drafts and not host.document.dirty:  # discarded changes include invalid values
        discard = Answer("discard", "alt+d", "Discard these edits")
        await _confirm_invalid(host, "What you typed there is lost.", discard)


async def _confirm_runs(host: Host) -> None:
    """Ask before replies are lost that a provider may bill; what has arrived of them is kept as the reply."""

    count = sum(not one.model.startswith("offline/") for one in host.main.runs.active)
    if not count:
        return
    its = "its reply" if count == 1 else "their replies"
    question = f"{counted(count, 'run')} waiting for {its}. A cancelled run may still be billed."
    answers = [KEEP_EDITING, Answer("cancel", "alt+r", "Cancel runs", "What has arrived is kept as the reply")]
    if await answer_to(host, ConfirmScreen("Active runs", question, answers)) != "cancel":
        raise Ended
    host.main.cancel()


async def _confirm_invalid(host: Host, then: str, go_on: Answer) -> None:
    """Ask about invalid values, which cannot be saved; keeping them goes to the first."""
    drafts = host.document.state.drafts
    question = f"{_invalid(drafts)}. The file keeps the last valid value, if any. {then}"
    if await answer_to(host, ConfirmScreen("Invalid values", question, [KEEP_EDITING, go_on])) != go_on.value:
        host.main.go_to(next(iter(drafts)))
        raise Ended


def _invalid(drafts: Iterable[Place]) -> str:
    names = [name_of(one) for one in drafts]
    if len(names) == 1:
        return f"One field has an invalid value: {names[0]}"
    return f"{len(names):,} fields have invalid values: {few(names, 3, '; ')}"


async def _confirm_unsaved(host: Host) -> None:
    """Ask about unsaved changes."""
    document = host.document
    if not document.dirty:
        return
    name = document.path.name if document.path is not None else "This session"
    answers = [KEEP_EDITING, Answer("save", "s", "Save"), Answer("discard", "alt+d", "Discard")]
    question = f"{name} has changes that are not saved."
    answer = await answer_to(host, ConfirmScreen("Unsaved changes", question, answers))
    if answer == "save":
        await save(host)
    elif answer != "discard":
        raise Ended


async def offer_left_over(host: Host) -> None:
    """Offer to recover work that was never saved; in a class, where only the page was closed, recover it."""
    document = host.document
    path = document.path
    why_not = autosave.why_not()
    if why_not:
        plain_notify(host.app, why_not, title="Unsaved work is not backed up", severity="warning", timeout=15)
    left = autosave.left_over(path)
    if left is None:
        return
    texts = state_of(left.session)
    if texts.session == document.session and not texts.drafts:
        return
    if host.confinement.hands_out:
        _take_up(host, left)
        host.main.status.say("your unsaved work is restored", 5)
        return
    only_texts = bool(texts.drafts) and texts.session == document.session
    what = "this session" if path is not None else "a session that has no file yet"
    question = f"The app ended without saving {what}. A copy from {left.at:%Y-%m-%d %H:%M:%S} was kept."
    if only_texts:
        question = f"Invalid values were left in {what} at {left.at:%Y-%m-%d %H:%M:%S}."
    answers = [
        # not letters: the question comes while the user may type already
        Answer("take", "alt+t", "Recover", "Continue with that copy"),
        Answer("leave", "alt+l", "Ignore", "You find it under Restore an earlier version"),
    ]
    answer = await host.app.push_screen_wait(ConfirmScreen("Recover unsaved work?", question, answers))
    if answer == "take":
        _take_up(host, left)
    elif answer is not None:
        autosave.put_away(left, path)


def _take_up(host: Host, left: autosave.LeftOver) -> None:
    host.restore(left.session)
    autosave.write(left.session, host.document.path)
    autosave.put_away(left, host.document.path)


def _write(host: Host, path: Path, write: Callable[[], saving.Saved]) -> None:
    try:
        saved = write()
    except (SessionError, OSError, ValueError) as error:
        said = str(error) if isinstance(error, SessionError) and error.path else f"{path}: {error}"
        raise Ended(said, "Not saved", "error") from error
    document = host.document
    if saved.session is not document.session:  # of changes made on disk, as a change that can be undone
        host.main.edit(partial(_set_session, session=saved.session), Place("session"), f"merge {path.name}")
    autosave.discard(document.path)
    document.mark_saved(path, saved.fingerprint)
    host.past_runs.saved_as(path)
    host.main.show()
    drafts = document.state.drafts
    if drafts:
        why_not = autosave.write(session_with_drafts(document.state), path)
        kept = f"cannot be kept: {why_not}" if why_not else "is offered at the next start."
        said = f"{_invalid(drafts)}. The file has the last valid value; what you typed {kept}"
        plain_notify(host.app, said, title=f"Saved {path.name}", severity="warning")
    else:
        here = "saved in your folder here; `Download a file` takes it along" if host.confinement.hands_out else "saved"
        host.main.status.say(f"{here}; {saved.not_kept}" if saved.not_kept else here)
    if saved.taken:
        merged = f"Those changes are merged in: {one_line(few(saved.taken, 3), 200)}."
        said = f"The file was changed on disk too. {merged} {host.key_words('{app.undo|^z} removes them.')}"
        plain_notify(host.app, said, title=f"Saved and merged {path.name}", timeout=10)


def _set_session(state: State, session: Session) -> State:
    """Replace the session, keeping the current case if it still exists."""
    if not session.cases:
        session = replace(session, cases=(Case("case 1"),))
    names = [one.name for one in session.cases]
    index = names.index(state.case.name) if state.case.name in names else min(state.case_index, len(names) - 1)
    return replace(state, session=session, case_index=index)
