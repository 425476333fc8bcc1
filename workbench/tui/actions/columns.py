"""Set up and add columns: adapters, models, variants, parameters."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from adapters.formats import catalog
from adapters.formats.profile import EXTRACTION_OPTION
from adapters.lm import ProviderError, dotenv
from sessions.errors import SessionError
from sessions.model import variants
from sessions.model.parameters import check_parameters
from sessions.model.session import Column
from sessions.releases import environments, project
from sessions.running import recording
from workbench.editing import column_edits, edits, field_values
from workbench.output import json_shapes
from workbench.output.display import one_line
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry, ModelScreen
from workbench.tui.host import Ended, Host, answer_to, ends_on, focused_column
from workbench.tui.messages import Change

TAKE_IT = (
    Answer("take", "a", "Use this model in all columns"),
    Answer("keep", "k", "Keep their models", "use this model in columns that you add"),
)


async def choose_model(host: Host) -> None:
    """Choose the session's model, used by all columns without their own.

    If every column has its own model, ask whether to replace them, because nothing would be sent to the chosen model.
    """
    columns = host.document.session.columns
    chosen = await _choose(host, "Model of the session", host.document.session.model, edits.set_session, "model")
    if not columns or any(one.model is None for one in columns):
        return
    question = ConfirmScreen(f"Model {chosen}", "Every column has its own model.", TAKE_IT)
    answer = await host.app.push_screen_wait(question)
    if answer == "take":
        host.main.edit(_drop_own_models, Place("model"), "one model for every column")


def _drop_own_models(state: State) -> State:
    for one in state.session.columns:
        state = column_edits.change(state, one.id, model=None)
    return state


async def _choose(
    host: Host, title: str, current: str, change: Callable[..., State], label: str, usual: str = ""
) -> str:
    """Ask for a model, apply `change` with it (None for the `usual` model), and return it."""
    dotenv.read(Path.cwd()).lend_keys()
    chosen = await answer_to(host, ModelScreen(title, current, only=host.confinement.offered_models))
    host.main.edit(partial(change, model=chosen if chosen != usual else None), Place("model"), label)
    warm(host, chosen)
    return chosen


def warm(host: Host, model: str) -> None:
    """Start loading litellm if the chosen model needs it, so that sending does not have to wait."""
    if model.startswith("offline/"):
        return
    # the list of models must open without importing the client
    from adapters.lm.litellm_client import LitellmLM
    from workbench.sending import sending

    session, path, hosts = host.document.session, host.document.path, host.sending.hosts
    named = [(column, second) for column in session.columns for second in sending.models_of(column)]
    wanted = [(one, second) for one, second in named if (second or session.model_of(one)) == model]
    if not wanted:
        return
    column, second = wanted[0]

    def load() -> None:
        try:
            allowed = hosts.allowed(session, column, path)
            opened = sending.open_model(session, column, second, allowed=allowed, confinement=host.confinement)
        except ProviderError:
            return  # a send reports the error in its column
        if isinstance(opened, LitellmLM):
            opened.warm()

    threading.Thread(target=load, daemon=True, name="load litellm").start()
    host.main.status.say("loading litellm")


BESIDE, EVERY, VARIANT, PROJECT = "beside", "all", "with", "project"
"""Ways to add columns; the first three are also values for `do`."""


async def set_up(host: Host) -> None:
    """Ask what to do with the focused column, and do it."""
    column = focused_column(host).column
    model = one_line(host.document.session.model_of(column), 60)
    own = "" if column.model else " (the session's)"
    variant = f" · variant {one_line(column.variant, 40)}" if column.variant else ""
    second = column.options.get(EXTRACTION_OPTION)
    extraction = f" · extraction by {one_line(str(second), 60)}" if second else ""
    about = f"{one_line(column.adapter, 60)} → {model}{own}{variant}{extraction}"
    question = ConfirmScreen(f"Column {column.id}", about, answers(host, column))
    await do(host, column, await answer_to(host, question))


async def add(host: Host) -> None:
    """Ask for the new column's adapter, model or variant, add it and show it."""
    document = host.document
    session, rendered = document.session, host.main.shown_column()
    shown = {one.adapter for one in session.columns}
    abouts = {name: catalog.profile(name).about for name in catalog.NAMES}
    abouts |= release_adapters()
    entries = [
        Entry(name, catalog.title(name), f"{about} · already shown" if name in shown else about)
        for name, about in sorted(abouts.items(), key=lambda one: one[0] in shown)
    ]
    if rendered is not None:
        column = rendered.column
        entries.append(Entry(BESIDE, "Another model", f"a second {column.id} column for another model"))
        entries.append(
            Entry(EVERY, "Another model for every adapter", "add a column for another model to each adapter")
        )
        if session.variants:
            entries.append(Entry(VARIANT, "A variant", f"a second {column.id} column with a variant"))
    own = None if host.confinement.why_no_program() else project.find(document.folder)
    if own is not None:
        about = f"this project's own ({own.source.name}), in place of every column of dspy's"
        entries.append(Entry(PROJECT, f"dspy {own.version}", about))
    chosen = await answer_to(host, ChooseScreen("Add a column", entries))
    before = {one.id for one in session.columns}
    if chosen in abouts:
        show(host, chosen)
    elif chosen == PROJECT and own is not None:
        await follow_project(host, own)
    elif rendered is not None:
        await do(host, rendered.column, chosen)
    fresh = [one.id for one in document.session.columns if one.id not in before]
    if fresh:
        host.app.call_after_refresh(host.main.columns.turn_to, fresh[0])


async def tell_of_project(host: Host) -> None:
    """Say that the folder's own dspy is not the one that the columns follow."""
    own = None if host.confinement.why_no_program() else await asyncio.to_thread(project.find, host.document.folder)
    columns = [one.adapter.partition("@") for one in host.document.session.columns]
    followed = {release or recording.DSPY for name, _, release in columns if release or catalog.dspy_class(name)}
    if own is not None and followed and own.version not in followed:
        said = f"this project has dspy {own.version}; {{app.add_column|alt+c}} offers it"
        host.main.status.say(host.key_words(said), seconds=10)


async def follow_project(host: Host, own: project.Project) -> None:
    """Render and parse every column with the project's dspy, starting its Python if needed."""
    if refused := host.confinement.why_no_program():
        raise Ended(refused)
    found = environments.find(own.version)
    if found is None or not found.is_there:
        if own.python is None:
            add = f"`workbench dspy add {own.version}` adds it."
            raise Ended(f"No environment here has dspy {own.version}; {add}")
        with ends_on(SessionError, severity="warning"):
            found = await asyncio.to_thread(environments.use, own.python)
    adapters = found.adapters or [name for name in catalog.NAMES if catalog.dspy_class(name) is not None]
    change = partial(column_edits.set_release, version=found.version, adapters=adapters)
    _edit(host, change, f"columns of dspy {found.version}")


def release_adapters() -> dict[str, str]:
    """Return the adapters of the added releases (`workbench dspy add`) with descriptions, newest release first.

    For a release with unknown adapters, all adapters of dspy are listed; a column reports if its adapter is missing.
    """
    dspys = [name for name in catalog.NAMES if catalog.dspy_class(name) is not None]
    return {
        f"{name}@{one.version}": f"as dspy {one.version} does it, run with that release"
        for one in reversed(environments.added())
        for name in dspys
        if name in (one.adapters or dspys)
    }


def answers(host: Host, column: Column) -> tuple[Answer, ...]:
    """Return the actions available for a column now."""
    session = host.document.session
    now = "on" if session.fallback else "off"
    wanted = {
        "session": bool(column.model),
        "extraction": catalog.profile(column.adapter).has_second_model,
        "variant": bool(session.variants),
        "with": bool(session.variants),
        "remove": len(session.columns) > 1,
    }
    found = (
        Answer("model", "m", "Model", "Choose a model for this column alone"),
        Answer("beside", "a", "Compare a model", "Add this adapter again, with another"),
        Answer("all", "n", "Compare in all", "Add every adapter, with another model"),
        Answer("session", "s", "The session's model", "Use the session's model again"),
        Answer("extraction", "e", "Extraction model", "Choose the model that extracts the fields"),
        Answer("variant", "v", "Variant", "Use its texts in the signature"),
        Answer("with", "w", "Compare a variant", "Add a second column with a variant"),
        Answer("params", "p", "Parameters", "Set temperature, max_tokens, n, …"),
        Answer("session-params", "o", "Session parameters", "Set api_base, timeout, … of all columns"),
        Answer("fallback", "f", "Fall back to JSON", f"Chat and XML ask again in JSON; now {now}"),
        Answer("left", "h", "Move left", "Move it by one place"),
        Answer("right", "l", "Move right", "Move it by one place"),
        Answer("remove", "x", "Remove", "Replies and recordings stay in the file"),
    )
    return tuple([one for one in found if wanted.get(one.value, True)])


async def do(host: Host, column: Column, what: str) -> None:
    """Run the action of one of `answers`."""
    id, usual = column.id, host.document.session.model
    own = column.model or usual
    set_model = partial(column_edits.change, id=id)
    if what == "model":
        await _choose(host, f"Model of {id}", own, set_model, f"model of {id}", usual)
    elif what == "beside":
        change = partial(column_edits.copy, id=id)
        await _choose(host, f"Another model beside {id}", own, change, f"another model beside {id}")
    elif what == "all":
        await _choose(host, "Another model for every adapter", usual, column_edits.add_model_to_all, "another model")
    elif what == "extraction":
        current = str(column.options.get(EXTRACTION_OPTION) or own)
        change = partial(column_edits.set_extraction_model, id=id)
        await _choose(host, f"Extraction model of {id}", current, change, f"extraction model of {id}", own)
    elif what == "session":
        _edit(host, partial(set_model, model=None), f"the session's model for {id}")
    elif what in ("params", "session-params"):
        of_session = what == "session-params"
        params = host.document.session.params if of_session else column.params
        of = "the session" if of_session else id
        shown = json_shapes.dumps(dict(params), indent=None, ascii_only=False) if params else "{}"
        hint = 'a JSON object, such as {"temperature": 0.7, "n": 3}   enter   {ask.close|esc} close'
        typed = await answer_to(host, AskScreen(f"Parameters of {of}", shown, refused, hint))
        change = partial(edits.set_session) if of_session else partial(column_edits.change, id=id)
        _edit(host, partial(change, params=field_values.read_json(typed or "{}")), f"parameters of {of}")
    elif what == "fallback":
        fallback = not host.document.session.fallback
        _edit(host, partial(edits.set_session, fallback=fallback), "fallback")
        host.main.status.say(f"fallback to JSON is {'on' if fallback else 'off'}")
    elif what in ("variant", "with"):
        beside = what == "with"
        session = host.document.session
        entries = [
            Entry(tag, tag, ", ".join(one.of for one in session.variants if one.tag == tag))
            for tag in variants.tags(session)
        ]
        if not beside:
            entries.insert(0, Entry("", variants.ORIGINAL_TAG, "the signature without a variant"))
        title = f"A variant beside {column.id}" if beside else f"Variant of {column.id}"
        tag = await answer_to(host, ChooseScreen(title, entries, current=column.variant or ""))
        if beside:
            try_variant(host, tag, column)
        else:
            _edit(host, partial(column_edits.change, id=column.id, variant=tag or None), f"variant of {column.id}")
    elif what in ("left", "right"):
        move(host, column.id, -1 if what == "left" else 1)
    else:
        _edit(host, partial(column_edits.remove, id=column.id), f"remove column {column.id}")


def show(host: Host, adapter: str) -> None:
    """Add a column for an adapter."""
    session = host.document.session
    known = {one.id for one in session.columns}
    id = adapter if adapter not in known else f"{adapter} {len(known) + 1}"
    _edit(host, partial(edits.set_session, columns=(*session.columns, Column(id, adapter))), f"show column {id}")
    host.app.call_after_refresh(host.main.columns.turn_to, id)


def hide(host: Host, adapter: str) -> None:
    """Remove every column of an adapter from the screen."""
    kept = tuple([one for one in host.document.session.columns if one.adapter != adapter])
    _edit(host, partial(edits.set_session, columns=kept), f"hide column {adapter}")


def move(host: Host, id: str, by: int) -> None:
    """Move a column by this number of places; negative numbers move it left."""
    columns = list(host.document.session.columns)
    index = next(number for number, one in enumerate(columns) if one.id == id)
    column = columns.pop(index)
    columns.insert(max(0, index + by), column)
    _edit(host, partial(edits.set_session, columns=tuple(columns)), f"move column {id}")


def try_variant(host: Host, tag: str, column: Column) -> None:
    """Add a column with the variants of a tag next to a column."""
    _edit(host, partial(column_edits.copy, id=column.id, variant=tag), f"variant {tag} beside {column.id}")


def refused(text: str) -> str:
    """Return why a text is not a valid parameter object, or ""."""
    value = field_values.read_json(text or "{}")
    if isinstance(value, field_values.NotAValue):
        return f"column {value.column}: {value.message}"
    if not isinstance(value, dict):
        return 'expected an object such as {"temperature": 0.7}'
    try:
        check_parameters(value, "")
    except SessionError as error:
        return str(error)
    return ""


def _edit(host: Host, change: Change, label: str) -> None:
    host.main.edit(change, Place("column"), label)
