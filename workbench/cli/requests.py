"""The request of one column and case, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.errors import SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.requests.request import Request
from sessions.model.session import Column
from sessions.releases.engine import ReleaseError
from sessions.running import rendering
from workbench.cli.selection import Selection
from workbench.output.exit_codes import CommandError


@dataclass(frozen=True)
class Unrenderable:
    """A column without a prompt: its adapter cannot be had, or raised what dspy's `format` raises."""

    type: str
    message: str

    def as_dict(self) -> dict[str, object]:
        return {"messages": [], "segments": [], "request": None, "error": {"type": self.type, "message": self.message}}


def prepare(chosen: Selection, column: Column) -> Request | Unrenderable:
    """What goes out for the column. Raises `CommandError` for a signature that cannot be read."""
    try:
        adapter = rendering.adapter_of(column, allow_code=column.adapter in chosen.allow_code)
        return rendering.request_of(chosen.session, column, chosen.case, adapter=adapter)
    except SignatureError as error:
        raise CommandError(f"the signature, {error}") from error
    except (UnknownAdapterError, ReleaseError) as error:
        return Unrenderable(type(error).__name__, str(error))
    except Exception as error:  # whatever dspy's format raises for this signature and these values
        return Unrenderable(type(error).__name__, f"cannot be rendered: {type(error).__name__}: {error}")


def require(chosen: Selection, column: Column) -> Request:
    """What goes out for the column. Raises `CommandError` when there is nothing that could."""
    request = prepare(chosen, column)
    if isinstance(request, Unrenderable):
        raise CommandError(f"column {column.id}: {request.message}")
    return request
