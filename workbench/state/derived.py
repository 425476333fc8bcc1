"""Values derived from the session: the signature as data, and per column the prompt and the parse result.

Only the types: `workbench.state.engine` makes them, and the first picture does without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adapters.errors import SignatureError
    from adapters.formats.base import Adapter
    from adapters.replies.reading import Reading
    from adapters.requests.request import Request
    from adapters.signatures.signature import Field, Signature
    from sessions.model.replies import Reply
    from sessions.model.session import Column
    from workbench.state.document import State


@dataclass(frozen=True)
class ReadSignature:
    """The last signature that could be read (None before the first), and what is wrong with the text of now."""

    signature: Signature | None = None
    error: SignatureError | None = None
    is_blank: bool = False
    """Whether nothing is written."""

    @property
    def problem(self) -> SignatureError | None:
        """The error to show: an empty session has none."""
        return None if self.is_blank and self.signature is None else self.error


@dataclass(frozen=True, eq=False)
class SlowReading:
    """A reply that repairing takes long (`adapters.json_text.repair_limits.QUICK_STEPS`): read away from the keys."""

    adapter: Adapter
    request: Request
    signature: Signature
    reply: Reply

    def read(self) -> Reading:
        """Takes up to a second or two. Raises what a user's own adapter raises."""
        from sessions.running.recording import read_completion

        return read_completion(self.adapter, self.request, self.signature, self.reply)


@dataclass(frozen=True, eq=False)
class LateColumn:
    """A column that another process is still to be asked for, as everything stands now."""

    state: State
    column: Column
    request: Request | None = None
    """The one before, which is shown until then."""


@dataclass(frozen=True)
class RenderedColumn:
    """One column of the case on screen with what was made of it.

    `request` is out of date when `error` says why it could not be made anew.
    """

    column: Column
    request: Request | None = None
    error: str = ""
    reply: Reply | None = None
    reading: Reading | None = None
    reading_error: str = ""
    slow: SlowReading | None = None
    """What is left to do for a reading that takes more than a moment; until then there is none."""
    late: LateColumn | None = None
    """What another process is still to be asked; until then `request` and `reading` are those of before."""
    left_out: tuple[str, ...] = ()
    """What the column's variant is of, where that has changed since or is gone: the original stands in the prompt."""

    @property
    def text(self) -> str:
        """The text of the reply, empty when there is none."""
        return self.reply.text if self.reply is not None else ""

    @property
    def why_no_prompt(self) -> str:
        """The text that is shown in place of a missing prompt."""
        return self.error or ("asked for" if self.late else "the signature is still to be written")

    @property
    def stale(self) -> bool:
        return (bool(self.error) or self.late is not None) and self.request is not None


def history_field(signature: Signature) -> Field | None:
    """The input that holds the conversation so far, which a case keeps as its turns."""
    from adapters.types.recognition import is_named

    return next((one for one in signature.input_fields.values() if is_named(one.annotation, "History")), None)
