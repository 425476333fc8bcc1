"""Columns of another release of dspy: what its process answers is waited for away from the keys."""

from __future__ import annotations

from adapters.formats import catalog
from sessions.model.session import Column
from sessions.releases.engine import ReleaseError
from sessions.running import rendering
from sessions.running.recording import read_completion
from workbench.state.derived import LateColumn, RenderedColumn


def is_late(column: Column) -> bool:
    """Whether a column's request and reading come from another process."""
    return catalog.parse_release(column.adapter) is not None


def make(late: LateColumn) -> RenderedColumn:
    """The column as that release has it. Blocks for milliseconds, or while a process starts. Raises nothing."""
    session, case, column = late.state.session, late.state.case, late.column
    reply = case.replies.get(column.id)
    try:
        reuse = late.request.prompt if late.request is not None else None
        request = rendering.request_of(session, column, case, reuse=reuse)
    except ReleaseError as error:
        return RenderedColumn(column, late.request, str(error), reply)
    except Exception as error:  # whatever reading the signature or building the values raises
        return RenderedColumn(column, late.request, f"{type(error).__name__}: {error}", reply)
    made = RenderedColumn(column, request, "", reply)
    if reply is None or reply.raw:
        return made
    try:
        reading = read_completion(rendering.adapter_of(column), request, session.signature.read(), reply)
    except Exception as error:  # as above: the column says it, and the screen goes on
        return RenderedColumn(column, request, "", reply, reading_error=f"{type(error).__name__}: {error}")
    return RenderedColumn(column, request, "", reply, reading)
