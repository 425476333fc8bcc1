"""The lints of a column's prompt: those of what its adapter is given, and demos that do not parse back."""

from __future__ import annotations

from adapters.formats import catalog
from adapters.lint import LINTS, Lint, lint, round_trip
from adapters.requests.request import Request
from adapters.tools.fields import with_tools
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from sessions.running.tools import described_tools

MOST_PARSED_BACK = 100
"""Demos that are parsed back: each costs as much as a reply."""


def lints_of(session: Session, column: Column, case: Case, request: Request) -> tuple[Lint, ...]:
    """The lints of the prompt in `request`, those of one kind together.

    None where the session cannot be rendered (the column says so), and none of a column's own code that was not named
    on the command line. Decisions show their demos as examples in the instructions: these are not parsed back.
    """
    try:
        signature = session.signature.read()
        demos, inputs = rendering.demos_of(session, case), dict(case.inputs) | rendering.inputs_of(signature, case)
        if session.tools:
            inputs = with_tools(signature, inputs, described_tools(session))
    except Exception:  # the column itself says why it cannot be rendered
        return ()
    profile, prompt = catalog.profile(column.adapter), request.prompt
    found = [*lint(signature, demos, inputs, profile, prompt, tuple(case.turns), session.model_of(column))]
    numbers = [use.number for use in prompt.demos]
    some = slice(MOST_PARSED_BACK)
    if request.decisions is None:
        try:
            adapter = rendering.adapter_of(column)
        except Exception:  # an adapter of the user's own cannot be made: its demos are not parsed back
            pass
        else:
            known = numbers[some] if len(numbers) == len(demos) else ()
            found += round_trip(adapter, request.signature, demos[some], known)
    order = {name: index for index, name in enumerate(LINTS)}
    return tuple(sorted(found, key=lambda one: order.get(one.name, len(order))))
