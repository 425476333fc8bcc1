"""Lint a column's prompt: the adapter's inputs, and demos that do not parse back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from adapters.formats import catalog
from adapters.lint import LINTS, Lint, Place, lint, round_trip
from adapters.lm.capabilities import gateway_passed_over, limits_of, split_model
from adapters.requests.request import Request
from adapters.tools.tools import set_tool_input
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from sessions.running.tools import described_tools

MOST_PARSED_BACK = 100
"""The most demos to parse back; each costs as much as parsing a reply."""


def lints_of(session: Session, column: Column, case: Case, request: Request) -> tuple[Lint, ...]:
    """Return the lints of the prompt in `request`, grouped by kind.

    There are none if the session cannot be rendered (the column reports that). Demos are not parsed back with a user's
    adapter that was not named on the command line, or in decisions, which show them as examples in the instructions.
    """
    try:
        signature = session.signature.read()
        demos, inputs = rendering.demos_of(session, case), dict(case.inputs) | rendering.inputs_of(signature, case)
        if session.offered_tools:
            inputs = set_tool_input(signature, inputs, described_tools(session))
    except Exception:  # the column reports why it cannot be rendered
        return ()
    profile, prompt = catalog.profile(column.adapter), request.prompt
    model, capabilities = session.model_of(column), rendering.capabilities_for(session, column).capabilities
    turns, params = tuple(case.turns), request.params
    found = [*lint(signature, demos, inputs, profile, prompt, turns, model, params, capabilities, limits_of)]
    numbers = [use.number for use in prompt.demos]
    some = slice(MOST_PARSED_BACK)
    if request.decisions is None:
        try:
            adapter = rendering.adapter_of(column)
        except Exception:  # a user's adapter cannot be created: skip parsing its demos back
            pass
        else:
            known = numbers[some] if len(numbers) == len(demos) else ()
            found += round_trip(adapter, request.signature, demos[some], known)
    has_address = bool(rendering.connection_of(session, column).get("api_base"))
    variable = gateway_passed_over(model, rendering.lm_settings_of(session, column).model_type)
    if variable and not has_address:
        said = (
            f"dspy sends {model} to the provider itself, not to the address in {variable}, to which it is sent here. "
            f"Name the provider: {'/'.join(split_model(model))}."
        )
        found.append(Lint("gateway-passed-over", said, Place("column")))
    order = {name: index for index, name in enumerate(LINTS)}
    return tuple(sorted(found, key=lambda one: order.get(one.name, len(order))))


class Found(NamedTuple):
    """A lint of a session, with the columns and cases in which it occurs."""

    lint: Lint
    columns: tuple[str, ...]
    cases: tuple[str, ...]


def lints_of_session(
    session: Session, columns: Sequence[Column], cases: Sequence[Case], allow_code: Collection[str] = ()
) -> tuple[Found, ...]:
    """Find the distinct lints of all columns and cases; a column without a prompt is a lint, too.

    Only the code of adapters in `allow_code` is imported.
    """
    found: dict[Lint, tuple[dict[str, None], dict[str, None]]] = {}
    for case in cases:
        for column in columns:
            try:
                adapter = rendering.adapter_of(column, allow_code=column.adapter in allow_code)
                request = rendering.request_of(session, column, case, adapter=adapter)
                made = lints_of(session, column, case, request)
            except Exception as error:  # whatever dspy's format raises for this signature and these values
                match error:
                    case KeyError(args=(str(name),)) if (
                        name in session.signature.read().input_fields and name not in case.inputs
                    ):
                        said = f"the input `{name}` has no value"
                    case IndexError() if "types-in-short-form" in catalog.profile(column.adapter).quirks:
                        # dspy's BAMLAdapter for a `List` or `Dict` alone: "tuple index out of range"
                        said = "it needs the types inside List and Dict: write list[str] or dict[str, Any], for example"
                    case _:
                        said = str(error) or type(error).__name__
                made = (Lint("no-prompt", f"{column.id} cannot be rendered: {said}", Place("column")),)
            for one in made:
                ids, names = found.setdefault(one, ({}, {}))
                ids[column.id] = names[case.name] = None
    order = {name: index for index, name in enumerate(LINTS)}
    ordered = sorted(found.items(), key=lambda one: (SEVERITIES.index(one[0].severity), order[one[0].name]))
    return tuple([Found(one, tuple(ids), tuple(names)) for one, (ids, names) in ordered])


SEVERITIES = ("error", "warning", "info")
