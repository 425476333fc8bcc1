"""Derive the signature, prompts and parse results from the open session.

The results depend on the state alone; unchanged parts are reused. After an error the last good result stays, marked
stale.
"""

from __future__ import annotations

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.json_text.repair_limits import quick_reading
from adapters.late_dataclasses import dataclass, field, replace
from adapters.replies.reading import Reading
from adapters.requests.request import Request
from sessions.model import variants
from sessions.model.session import Column, SignatureText
from sessions.releases.engine import ReleaseError
from sessions.running import rendering
from sessions.running.recording import read_completion
from workbench.state.document import LateColumn, ReadSignature, RenderedColumn, SlowReading, State


def is_late(column: Column) -> bool:
    """Return whether another process renders and parses the column."""
    return catalog.parse_release(column.adapter) is not None


def make(late: LateColumn) -> RenderedColumn:
    """Render a column in another release. Blocks for milliseconds, or while a process starts. Never raises."""
    session, case, column = late.state.session, late.state.case, late.column
    reply = case.replies.get(column.id)
    try:
        reuse = late.request.prompt if late.request is not None else None
        request = rendering.request_of(session, column, case, reuse=reuse)
    except ReleaseError as error:
        return RenderedColumn(column, late.request, str(error), reply)
    except Exception as error:  # parsing the signature and building values may raise anything
        return RenderedColumn(column, late.request, f"{type(error).__name__}: {error}", reply)
    made = RenderedColumn(column, request, "", reply)
    if reply is None or reply.raw:
        return made
    try:
        reading = read_completion(rendering.adapter_of(column), request, session.signature.read(), reply)
    except Exception as error:  # as above: the column shows the error
        return RenderedColumn(column, request, "", reply, reading_error=f"{type(error).__name__}: {error}")
    return RenderedColumn(column, request, "", reply, reading)


@dataclass(eq=False)
class Engine:
    """Keep the last good results of a document."""

    signature: ReadSignature = field(default_factory=ReadSignature)
    _text: SignatureText | None = None
    _columns: dict[str, RenderedColumn] = field(default_factory=dict)
    _seen: dict[str, State] = field(default_factory=dict)

    def read_signature(self, state: State) -> ReadSignature:
        text = state.session.signature
        if text != self._text:
            self._text = text
            try:
                self.signature = ReadSignature(text.read())
            except SignatureError as error:
                self.signature = ReadSignature(self.signature.signature, error, not text.text.strip())
            except (ValueError, RecursionError) as error:
                self.signature = ReadSignature(self.signature.signature, SignatureError(str(error)))
        return self.signature

    def column(self, state: State, column: Column) -> RenderedColumn:
        """Render a column. Never raises: the result contains the error."""
        last, seen = self._columns.get(column.id), self._seen.get(column.id)
        is_seen = seen is not None and seen.session is state.session and seen.case_index == state.case_index
        if last is not None and last.column is column and is_seen:
            return last
        reply = state.case.replies.get(column.id)
        if is_late(column) and self.read_signature(state).problem is None and self.signature.error is None:
            # The previous result stays, with the work for another process
            before = last if last is not None else RenderedColumn(column)
            reading = before.reading if reply is before.reply else None
            late = LateColumn(state, column, before.request)
            rendered = replace(before, column=column, error="", reply=reply, reading=reading, late=late)
        else:
            request, error = self._request(state, column, last.request if last is not None else None)
            rendered = self._add_reading(RenderedColumn(column, request, error, reply), last)
        signature = self.signature.signature
        if column.variant is not None and signature is not None:
            uses = [variants.use_of(signature, one) for one in state.session.variants if one.tag == column.variant]
            rendered = replace(rendered, left_out=tuple([one.variant.of for one in uses if one.state != "current"]))
        elif rendered.left_out:
            rendered = replace(rendered, left_out=())
        self._columns[column.id] = rendered
        self._seen[column.id] = state
        return rendered

    def late_of(self, id: str) -> LateColumn | None:
        """Return the column's work for another process, or None."""
        return self._columns[id].late if id in self._columns else None

    def take_late(self, id: str, late: LateColumn, made: RenderedColumn) -> None:
        """Accept a column from another process; it stays stale if the state changed meanwhile."""
        now = self._columns.get(id)
        if now is None:
            return
        if now.late is late:
            self._columns[id] = replace(made, left_out=now.left_out)
        elif made.request is not None:
            self._columns[id] = replace(now, request=made.request)

    def render_again(self) -> None:
        """Render every column at its next use, even if the session is unchanged."""
        self._seen.clear()

    def forget(self, ids: set[str]) -> None:
        """Discard the results of columns whose ids are not in `ids`."""
        for gone in set(self._columns) - ids:
            del self._columns[gone]

    def _request(self, state: State, column: Column, last: Request | None) -> tuple[Request | None, str]:
        wrong = self.read_signature(state).problem
        if wrong is not None:
            return last, f"the signature: {wrong}"
        if self.signature.error is not None:  # nothing is written yet
            return None, ""
        try:
            reuse = last.prompt if last is not None else None
            return rendering.request_of(state.session, column, state.case, reuse=reuse), ""
        except Exception as error:  # format may raise anything for this signature and these values
            return last, f"{type(error).__name__}: {error}"

    def _add_reading(self, rendered: RenderedColumn, last: RenderedColumn | None) -> RenderedColumn:
        if rendered.reply is None or rendered.request is None or self.signature.signature is None or rendered.reply.raw:
            return rendered
        if last is not None and last.reply is rendered.reply and last.request is not None:
            same_fields = last.request.signature is rendered.request.signature
            same_calls = last.request.calls_field == rendered.request.calls_field
            if same_fields and same_calls and last.column is rendered.column:
                if last.reading is not None or last.slow is not None:
                    return replace(rendered, reading=last.reading, slow=last.slow)
        try:
            adapter = rendering.adapter_of(rendered.column)
            with quick_reading() as steps:
                reading = read_completion(adapter, rendered.request, self.signature.signature, rendered.reply)
        except Exception as error:  # a user's own adapter may raise anything
            return replace(rendered, reading_error=f"{type(error).__name__}: {error}")
        if steps.ran_out:
            slow = SlowReading(adapter, rendered.request, self.signature.signature, rendered.reply)
            return replace(rendered, slow=slow)
        return replace(rendered, reading=reading)

    def is_left(self, id: str, slow: SlowReading) -> bool:
        """Return whether `slow` is still the column's reply to parse."""
        return id in self._columns and self._columns[id].slow is slow

    def take(self, id: str, slow: SlowReading, reading: Reading | Exception) -> None:
        """Accept the parse result of a slow reply, unless the column's reply has changed by now."""
        if not self.is_left(id, slow):
            return
        rendered = self._columns[id]
        if isinstance(reading, Exception):
            self._columns[id] = replace(rendered, slow=None, reading_error=f"{type(reading).__name__}: {reading}")
        else:
            self._columns[id] = replace(rendered, slow=None, reading=reading)
