"""Setting up the column with the focus: its model, its variant, and further columns like it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sessions import variants
from sessions.session import Column
from workbench import column_edits, sending
from workbench.display import one_line
from workbench.document import Place
from workbench.flows import models
from workbench.messages import Change
from workbench.screens.choose import ChooseScreen, Entry
from workbench.screens.confirm import Answer, ConfirmScreen

if TYPE_CHECKING:
    from workbench.app import WorkbenchApp

ORIGINAL = Entry("", variants.ORIGINAL_TAG, "the signature as it stands")


async def set_up(app: WorkbenchApp) -> None:
    """Asks what is to be done with the column that has the focus, and does it."""
    live = app.main.shown_column()
    if live is None:
        return
    column = live.column
    chosen = await app.push_screen_wait(ConfirmScreen(f"Column {column.id}", about(app, column), answers(app, column)))
    if chosen is not None:
        await do(app, column, chosen)


def about(app: WorkbenchApp, column: Column) -> str:
    """What the column is, in a line."""
    model = one_line(app.document.session.model_of(column), 60)
    own = "" if column.model else " (the session's)"
    variant = f" · variant {one_line(column.variant, 40)}" if column.variant else ""
    second = column.options.get(sending.EXTRACTION_MODEL)
    extraction = f" · extraction by {one_line(str(second), 60)}" if second else ""
    return f"{one_line(column.adapter, 60)} → {model}{own}{variant}{extraction}"


def answers(app: WorkbenchApp, column: Column) -> tuple[Answer, ...]:
    """What can be done with a column now."""
    found = [
        Answer("model", "m", "Model", "of this column, in the place of the session's"),
        Answer("beside", "a", "Another model beside it", "a second column of this adapter"),
        Answer("all", "n", "Every adapter with one more model", "adapter × model"),
    ]
    if column.model:
        found.append(Answer("session", "s", "The session's model", "no model of its own any more"))
    if column.adapter == "twostep":
        found.append(Answer("extraction", "e", "Extraction model", "who takes the fields out of the prose"))
    if app.document.session.variants:
        found.append(Answer("variant", "v", "Variant", "other wordings in the place of the signature's"))
        found.append(Answer("with", "w", "A variant beside it", "a second column that uses one"))
    found.append(Answer("left", "h", "Move left", "one place"))
    found.append(Answer("right", "l", "Move right", "one place"))
    if len(app.document.session.columns) > 1:
        found.append(Answer("remove", "x", "Remove", "its replies and recordings stay in the file"))
    return tuple(found)


async def do(app: WorkbenchApp, column: Column, what: str) -> None:
    """One of `answers`."""
    if what == "model":
        await models.choose_column_model(app, column)
    elif what == "beside":
        await models.add_model(app, column)
    elif what == "all":
        await models.add_model_to_all(app)
    elif what == "extraction":
        await models.choose_extraction_model(app, column)
    elif what == "session":
        _edit(app, partial(column_edits.set_model, id=column.id, model=None), f"the session's model for {column.id}")
    elif what in ("variant", "with"):
        await _variant(app, column, beside=what == "with")
    elif what in ("left", "right"):
        app.move_column(column.id, -1 if what == "left" else 1)
    else:
        _edit(app, partial(column_edits.remove, id=column.id), f"remove column {column.id}")


async def _variant(app: WorkbenchApp, column: Column, beside: bool) -> None:
    session = app.document.session
    entries = [
        Entry(tag, tag, ", ".join(one.of for one in session.variants if one.tag == tag))
        for tag in variants.tags(session)
    ]
    shown = entries if beside else [ORIGINAL, *entries]
    title = f"A variant beside {column.id}" if beside else f"Variant of {column.id}"
    tag = await app.push_screen_wait(ChooseScreen(title, shown, current=column.variant or ""))
    if tag is None:
        return
    if beside:
        _edit(app, partial(column_edits.add_variant, id=column.id, tag=tag), f"variant {tag} beside {column.id}")
    else:
        _edit(app, partial(column_edits.set_variant, id=column.id, tag=tag or None), f"variant of {column.id}")


def _edit(app: WorkbenchApp, change: Change, label: str) -> None:
    app.main.edit(change, Place("column"), label)
