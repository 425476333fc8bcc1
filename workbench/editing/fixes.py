"""Apply the fix of a diagnosis or lint to a session, or preview its effect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.formats.two_step import TwoStepAdapter
from adapters.late_dataclasses import replace
from adapters.replies.fix_makers import copied_from, target_at
from adapters.replies.flag import ASK_AGAIN, Fix, ask_without
from adapters.replies.reading import Reading
from adapters.requests.calls import asked_again
from adapters.requests.request import Request
from adapters.signatures import outline_edits
from adapters.signatures.class_writer import is_name
from adapters.signatures.outline import outline_of
from adapters.signatures.outline_edits import NewMember
from adapters.signatures.value_writer import text_literal
from adapters.values.plain_json import plain
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session
from sessions.running import linting, recording, rendering
from sessions.text_diff import prefixed
from workbench.editing import column_edits, edits, row_edits
from workbench.output.prompt_diff import SectionDiff, compare, compare_sections
from workbench.state.document import State

NO_VALUE = ("failed", "missing", "unread")
MOST_CASES = 10
"""Maximum number of other cases that are searched for a reply that parses."""
FILL_IN = "Add a demo of the format with these inputs; fill in its outputs."
OF_THE_FORMAT = frozenset(
    (
        *("likely-reply", "format-not-followed", "output-missing", "agent-layout", "schema-echoed", "prompt-echoed"),
        *("placeholder-echoed", "marker-in-value", "marker-in-another-case", "tag-in-another-case", "empty-object"),
        *("xml-tag-not-closed", "tag-around-everything", "key-missing", "key-nearly-right", "key-in-another-case"),
        *("other-keys", "list-at-the-root"),
    )
)
"""Causes against which a demo of the format helps."""
ASKED_FIRST = frozenset(("empty-object", "list-at-the-root"))
"""Causes that the model itself mends rather than another adapter."""


class FixError(ValueError):
    """A fix that cannot be applied to this session."""


class Effect(NamedTuple):
    """A fix with its effect on the session, the prompt and the parse result of the reply.

    `prompt` lists the changed sections. `parses` is None if that needs a new reply. If `problem` is set, the fix cannot
    be applied and the other fields are empty.
    """

    fix: Fix
    after: State | None = None
    prompt: tuple[SectionDiff, ...] = ()
    parses: bool | None = None
    is_other: bool = False
    """True if the reply parsed before and the fix changes its values."""
    parsed: bool = False
    """True if the reply parsed before."""
    problem: str = ""
    wrong: tuple[str, ...] = ()
    """Outputs that would still have no value."""

    @property
    def is_unfinished(self) -> bool:
        """True if the fix adds a demo whose outputs a person must fill in."""
        return self.fix.message == FILL_IN

    @property
    def verdict(self) -> str:
        """A short description of the reply's new parse result."""
        if self.problem:
            return f"cannot be applied: {self.problem}"
        if self.is_unfinished:
            return "the demo is sent once its outputs are filled in"
        if "demo" in self.fix.change and not self.prompt:
            return "the prompt has no part of this demo, so the replies stay the same"
        if self.parses is None or (not self.parses and "description" in self.fix.change):
            return "the next reply decides"
        if "reply" in self.fix.change and self.parses:
            return "this reply parses with this edit; prompt and model stay the same"
        if not self.parses and "adapter" in self.fix.change:
            return "this reply is in the old format; the next decides"
        if not self.parses:
            return f"this reply would still not parse{': ' if self.wrong else ''}{', '.join(self.wrong[:3])}"
        if self.parsed:
            return f"this reply parses already{', and would parse to other values' if self.is_other else ''}"
        return "this reply would parse"


def apply(state: State, column_id: str, fix: Fix) -> State:
    """Apply a fix to the session; the column keeps its position. Raises `FixError`."""
    change = fix.change
    column = next((one for one in state.session.columns if one.id == column_id), None)
    if column is None:
        raise FixError(f"there is no column {column_id}")
    if "reply" in change:
        return edits.edit_reply(state, state.case.name, column_id, change["reply"])
    if "new_demo" in change:
        return row_edits.insert_demos(state, len(state.session.demos), (Demo(change["new_demo"]),))
    if "field" in change or "fields" in change:
        return reduce(_change_field, change.get("fields", [change]), state)
    if "values" in change:
        # Add values to an Enum of the signature's text.
        text = state.session.signature.text
        try:
            for value in change["values"]:
                outline = outline_of(text)
                of = outline.class_named(change["class"])
                if of is None:
                    raise FixError(f"{change['class']} is not written in the signature")
                name = re.sub(r"\W+", "_", value).upper()
                name = name if is_name(name) and of.member(name) is None else f"VALUE_{name}"
                text = outline_edits.add_member(outline, of, NewMember(name, "value", text_literal(value)))
        except SignatureError as error:
            raise FixError(str(error)) from error
        return edits.set_signature(state, text=text)
    if "predictor" in change:
        return edits.set_signature(state, predictor=change["predictor"])
    if "fallback" in change:
        return edits.set_session(state, fallback=change["fallback"])
    if "demo" in change:
        row = change["demo"] - 1
        if not 0 <= row < len(state.session.demos):
            raise FixError(f"there is no demo {row + 1}")
        return edits.toggle_demo(state, row) if state.session.demos[row].enabled else state
    if "adapter" in change:
        return column_edits.set_adapter(state, column_id, change["adapter"])
    new = replace(
        column,
        options={**column.options, **change.get("options", {})},
        params={**column.params, **change.get("params", {})},
    )
    wrong = sorted(set(new.options) - set(catalog.profile(new.adapter).options))
    if wrong:
        raise FixError(f"{new.adapter} has no option {wrong[0]}")
    return edits.set_session(state, columns=tuple([new if one is column else one for one in state.session.columns]))


def _change_field(state: State, change: Mapping[str, Any]) -> State:
    """Change the name, type or description of a field in the signature's text."""
    text, name = state.session.signature.text, str(change["field"])
    try:
        outline = outline_of(text)
        of = outline.class_named(change.get("class", state.session.signature.class_name))
        member = of.member(name) if of is not None else None
        if of is None or member is None:
            raise FixError(f"{name} is not written in the signature")
        description = member.description
        if "description" in change:
            before, more = (description or "").rstrip(), str(change["description"])
            ends = "" if before.rstrip("\"'”’»`)]").endswith(tuple(".!?:;,…。！？")) else "."
            if not before.endswith(more):
                description = f"{before}{ends} {more}" if before else more
        kind = outline_edits.add_words(member.type_text, str(change.get("type", member.type_text)))
        wanted = NewMember(str(change.get("name", name)), member.kind, kind, description)
        written = outline_edits.set_member(outline, of, member, wanted)
    except SignatureError as error:
        raise FixError(str(error)) from error
    if wanted.name != name:
        return edits.rename_field(state, written, name, wanted.name)
    return edits.set_signature(state, text=written)


def effects_of(
    state: State,
    column: Column,
    reading: Reading | None,
    reply: Reply | None,
    request: Request | None,
    also: Iterable[Fix] = (),
) -> tuple[Effect, ...]:
    """Preview every fix of the column's parse result and lints, fixes that make the reply parse first.

    Fixes that change nothing are skipped. Each fix renders the prompt and parses the reply once. `also` adds
    fixes.
    """
    causes = reading.diagnosis if reading is not None else ()
    offered = [] if reading is None else list(_corrections(state, column, reading))
    can_ask = bool(causes) and reading is not None and not reading.ok and len(reading.completion.strip()) != 1
    asking = [ASK_AGAIN] if can_ask and not column.params.get("ask_again") else []
    if not offered and any(cause.cause in ASKED_FIRST for cause in causes):
        offered += asking
    apart: list[Fix] = []  # the first sentence that each wrong place offers for a description
    for cause in causes if reading is not None and not reading.ok else ():
        apart += [fix for fix in cause.fixes if fix.kind == "description" and cause.field][:1]
    places = _each_once(apart)
    if len(places) > 1:  # the sentences of several wrong places are one fix
        told = "; ".join(fix.message.removeprefix("Add to the description of ").rstrip(".") for fix in places)
        changes = {"fields": [fix.change for fix in places]}
        offered.append(Fix("description", f"Add to the descriptions of {told}.", changes))
    else:
        apart = []
    offered += [fix for cause in causes for fix in cause.fixes if fix not in apart] + asking
    found = linting.lints_of(state.session, column, state.case, request) if request is not None else ()
    offered += [fix for lint in found if lint.severity != "info" for fix in lint.fixes]
    offered += also
    known = {one.adapter: one for one in state.session.columns if one is not column}
    parsed_there: dict[object, bool] = {}
    each: list[Fix] = []
    for fix in _each_once(offered):
        there = known.get(_adapter_of(fix))
        read = None if there is None else parse_result(state.session, state.case, there)
        if read is not None and not read.ok and read.diagnosis:
            continue  # its column shows that it does not help; without a diagnosis, TwoStep lacks its second reply
        if there is not None:
            parsed_there[there.adapter] = read is not None and read.ok
        if there is not None and "adapter" in fix.change:
            also_parses = ": its reply parses" if read is not None and read.ok else ""
            fix = fix._replace(message=f"{fix.message.removesuffix('.')}, as column {there.id} does{also_parses}.")
        each.append(fix)
    effects = [_effect(state, column, fix, reading, reply, request) for fix in each]
    useful = [one for one in effects if one.problem or (one.after is not None and one.after is not state)]
    wrong = len(_wrong(reading)) if reading is not None else 0

    def rank(one: Effect) -> tuple[bool, bool, int, int]:
        does_parse = one.parses is True and (one.is_other or not one.parsed or "reply" in one.fix.change)
        there = parsed_there.get(_adapter_of(one.fix))  # its column shows what a switch would do
        is_untried = there is None and bool(_adapter_of(one.fix)) and any(parsed_there.values())
        promise = int(is_untried) if there is None else -1 if there else 2
        return bool(one.problem), not does_parse, promise, len(one.wrong) or wrong

    return tuple(sorted(useful, key=rank))


def _adapter_of(fix: Fix) -> str:
    """Return the adapter that a fix turns to; "" for none."""
    return str(fix.change.get("adapter", "json" if "fallback" in fix.change else ""))


def _corrections(state: State, column: Column, reading: Reading) -> Iterator[Fix]:
    """Offer the near misses that parse as edits of the reply, and after a parse error a demo of the format."""
    if reading.extraction is not None:  # no demo reaches the call that failed
        return
    found = [one for one in reading.near_misses if one.reading.ok]
    for miss in found:
        message, _, _ = miss.message.partition("; ")
        said = message.removesuffix(" as").rstrip(".")
        said = said if said[1:2].isupper() else said[:1].lower() + said[1:]
        yield Fix("reply", f"Edit this reply: {said}.", {"reply": miss.mended})
    causes = {one.cause for one in reading.diagnosis}
    takes_demos = catalog.profile(column.adapter).has_demos
    if reading.ok or not takes_demos or not state.case.inputs or "runaway-repetition" in causes:
        return
    if found:
        values: Mapping[str, Any] = {**state.case.inputs, **plain(dict(found[0].reading.values))}
        message = "Add the corrected reply as a demo of the format; then judge by another case."
    elif any(one.enabled for one in state.session.demos):
        return
    else:
        # A demo also shows better than words that an input is not to be copied in place of a value
        places = [target_at(reading, one.path or one.field) for one in reading.diagnosis]
        if not OF_THE_FORMAT & causes and not any(copied_from(reading, one) for one in places):
            return
        values, message = next(_parsed_replies(state, column), (state.case.inputs, FILL_IN))
    if all(dict(one.values) != values for one in state.session.demos):
        yield Fix("demo", message, {"new_demo": values})


def _parsed_replies(state: State, column: Column) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield demos made of replies that parse: of other cases, then of other columns."""
    others = [one for one in state.session.cases if one is not state.case and one.inputs][:MOST_CASES]
    columns = sorted(state.session.columns, key=lambda one: one.id != column.id)
    pairs = [(case, one) for one in columns for case in others]
    for case, one in [*pairs, *[(state.case, one) for one in columns]]:
        read = parse_result(state.session, case, one)
        if read is not None and read.ok and all(field.state == "read" for field in read.fields.values()):
            message = f"Add the reply of {case.plain_words} in column {one.id} as a demo of the format."
            yield {**case.inputs, **plain(dict(read.values))}, message


def parse_result(session: Session, case: Case, column: Column) -> Reading | None:
    """Parse a column's reply to a case; None without a reply, or if it cannot be read."""
    reply = case.replies.get(column.id)
    if reply is None or reply.raw:
        return None
    try:
        request = rendering.request_of(session, column, case)
        return recording.read_completion(rendering.adapter_of(column), request, request.signature, reply)
    except Exception:  # format may raise anything
        return None


def rejection_fixes(column: Column, request: Request, rejected: str = "") -> Iterator[Fix]:
    """Yield fixes that leave out what a server may reject: a schema, JSON, tools.

    `rejected` is the capability that an error names (`ProviderError.payload`); "" yields every fix of the request.
    """
    form = request.params.get("response_format")
    is_schema = isinstance(form, Mapping) and form.get("type") == "json_schema"
    by_hand = column.params.get("capabilities")
    of_form, of_tools = "response_schema" if is_schema else "response_format", "function_calling"
    if form and rejected in ("", "response_schema", "response_format"):
        yield ask_without(of_form, by_hand or {})
    if request.params.get("tools") and rejected in ("", of_tools):
        yield ask_without(of_tools, by_hand or {})


def _wrong(reading: Reading) -> tuple[str, ...]:
    return tuple([one.name for one in reading.fields.values() if one.state in NO_VALUE])


def _each_once(fixes: Iterable[Fix]) -> list[Fix]:
    each: dict[str, Fix] = {}
    for one in fixes:
        each.setdefault(json.dumps(plain(dict(one.change)), sort_keys=True), one)
    return list(each.values())


def _effect(
    state: State, column: Column, fix: Fix, reading: Reading | None, reply: Reply | None, request: Request | None
) -> Effect:
    try:
        after = apply(state, column.id, fix)
    except FixError as error:
        return Effect(fix, problem=str(error))
    changed = after.session.columns[state.session.columns.index(column)]
    try:
        made = rendering.request_of(after.session, changed, after.case)
        adapter = rendering.adapter_of(changed)
        prompt = () if request is None else compare(request, made)
        if not {"field", "fields", "values"}.isdisjoint(fix.change):
            before, now = [{"signature": one.session.signature.text} for one in (state, after)]
            prompt = (*compare_sections(before, now), *prompt)
        if "reply" in fix.change and reading is not None:
            corrected = {"reply": fix.change["reply"]}
            return Effect(
                fix, after, compare_sections({"reply": reading.completion}, corrected), True, reading.ok, reading.ok
            )
        if fix is ASK_AGAIN and reading is not None:
            following = asked_again(made, reading).messages[len(made.messages) :]
            prompt = tuple(
                SectionDiff(f"{one.turn} · {one.role}", None, one.text, prefixed("+", one.text.split("\n")))
                for one in following
            )
            return Effect(fix, after, prompt)
        # Whether a fix can change the parse result of the same reply
        if (
            reply is None
            or reply.raw
            or not bool({"adapter", "options", "predictor", "type", "name", "values"} & set(fix.change))
            or (isinstance(adapter, TwoStepAdapter) and reply.extraction is None)
        ):
            return Effect(fix, after, prompt)
        read = recording.read_completion(adapter, made, after.session.signature.read(), reply)
    except Exception as error:  # format may raise anything for the changed signature
        return Effect(fix, problem=f"{type(error).__name__}: {error}")
    values = plain(dict(read.values)), plain(dict(reading.values)) if reading is not None else None
    is_other = reading is not None and reading.ok and values[0] != values[1]
    wrong = () if read.ok or "adapter" in fix.change else _wrong(read)
    return Effect(fix, after, prompt, read.ok, is_other, reading is not None and reading.ok, wrong=wrong)


def effects_for(
    session: Session, column: Column, case: Case, reply: Reply | None, of_rejections: bool = False
) -> tuple[Effect, ...]:
    """Preview the fixes of a reply that is not on screen. Raises the errors of rendering.

    With `of_rejections`, fixes for a server that rejects the request come last.
    """
    state = State(session, session.cases.index(case))
    request = rendering.request_of(session, column, case)
    reading = None
    if reply is not None:
        adapter = rendering.adapter_of(column)
        reading = recording.read_completion(adapter, request, session.signature.read(), reply)
    return effects_of(state, column, reading, reply, request, rejection_fixes(column, request) if of_rejections else ())


def chosen(effects: Iterable[Effect], wanted: str) -> Effect:
    """Choose an effect by its 1-based number, its kind, or its change as JSON. Raises `FixError`."""
    known = list(effects)
    if wanted.isdecimal() and 0 < int(wanted) <= len(known):
        return known[int(wanted) - 1]
    try:
        change = json.loads(wanted)
    except (ValueError, RecursionError):
        change = None
    for one in known:
        if one.fix.kind == wanted or plain(dict(one.fix.change)) == change:
            return one
    told = "; ".join(f"{number} {one.fix.message}" for number, one in enumerate(known, 1))
    raise FixError(f"no fix {wanted!r}; there are: {told}" if known else "the reply and the prompt need no fix")
