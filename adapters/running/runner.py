"""Run a prompt, the only way to call a model, with an event for each step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

from adapters.errors import AdapterParseError, PromptNotMadeError, RunError, type_name
from adapters.formats.base import Adapter, is_own, observed_reading
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import TwoStepAdapter, extraction_signature
from adapters.late_dataclasses import dataclass, replace
from adapters.lm.protocol import LM, Completion, WritesAsTheAdapter
from adapters.prompts.text import Demos, Prompt, Values
from adapters.replies.reading import Reading
from adapters.requests import request
from adapters.requests.calls import asked_again
from adapters.requests.capabilities import Capabilities
from adapters.running import events
from adapters.running.model_calls import NOTHING, Lifecycle, ModelCalls, StopError, one_line
from adapters.running.runs import Run as Run
from adapters.running.turns import answered, calls_of
from adapters.signatures.signature import Signature
from adapters.tools.tools import RunTool, Tools

MOST_UNANSWERABLE = 1
"""Maximum consecutive turns with calls of unknown tools, or of tools without a handler, alone."""


def run(
    adapter: Adapter,
    lm: LM,
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    *,
    fallback: bool,
    params: Mapping[str, Any] = NOTHING,
    listeners: Iterable[events.Listener] = (),
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
    n: int | None = None,
    extraction_lm: LM | None = None,
    capabilities: Capabilities | None = None,
    reuse: Prompt | None = None,
    raw: bool = False,
    retries: int = 0,
    tools: Tools | None = None,
    clock: Callable[[], float] = time.monotonic,
    held: bool = False,
    ask_again: int = 0,
) -> Run:
    """Send a prompt and parse the reply. Blocks, and never raises: failures are in the result.

    `fallback`: whether an adapter with a fallback (JSON for Chat and XML) asks again after a parse error. `ask_again`:
    how often to return a parse error, also the fallback's, to the model in further messages; dspy does not do this.
    `retries`: how often to repeat a call after a passing failure. Each of these calls is a separate attempt. `n`
    requests several completions; the run is ok if all of them parse, as in dspy.

    `deadline_s` is in seconds from now for the whole run. `cancel` ends it within a fifth of a second; what has arrived
    is kept. `extraction_lm` is TwoStep's second model (None: `lm`). `raw`: keep the reply as text, unparsed. `tools`
    are offered to the model and executed until it gives its answer; see `Run.tool_turns`. `held`: `params` belong to
    the model, as in `dspy.LM(…)`, not to the call (`adapters.requests.request.prepare`). `capabilities` replace those
    of `lm`. `clock` returns seconds and must only move forward.
    """
    lifecycle = Lifecycle(tuple(listeners), clock, deadline_s, cancel)
    if n is not None and n > 1:
        params = {**params, "n": n}
    try:
        lifecycle.check("Deadline expired before the run started.", "request")
        offered = tools if tools is not None and tools.tools else None
        work = _Work(
            lifecycle, fallback, raw, lm, capabilities, extraction_lm or lm, retries, offered, reuse, held, ask_again
        )
        outcomes = work.ask(adapter, signature, demos, inputs, params)
    except StopError as stop:
        return lifecycle.ended((), stop)
    return lifecycle.ended(tuple(one for one, _ in outcomes))


Outcome = tuple[Mapping[str, Any], Reading | None]
"""The values and the parse result of a completion of the attempt that counts."""


@dataclass(frozen=True)
class _Work:
    """The calls of a run."""

    lifecycle: Lifecycle
    fallback: bool
    raw: bool
    lm: LM
    capabilities: Capabilities | None
    extraction_lm: LM
    retries: int = 0
    tools: Tools | None = None
    reuse: Prompt | None = None
    held: bool = False
    ask_again: int = 0

    def ask(
        self, adapter: Adapter, signature: Signature, demos: Demos, inputs: Values, params: Values
    ) -> tuple[Outcome, ...]:
        """Return the outcomes of the first attempt that parses. Raises StopError."""
        life = self.lifecycle
        try:
            made = request.prepare(
                adapter,
                signature,
                demos,
                inputs,
                self.lm.capabilities if self.capabilities is None else self.capabilities,
                model=self.lm.model,
                params=params,
                model_type=getattr(self.lm, "model_type", "chat"),
                reuse=self.reuse,
                tools=() if self.tools is None else self.tools.tools,
                held=self.held,
            )
        except Exception as error:  # a user's own adapter may raise anything: the run ends with it
            reason = one_line(str(error))
            if isinstance(error, NotImplementedError) and not reason:
                reason = f"{type(adapter).__name__} must override format()"
            message = f"The prompt cannot be made: {type(error).__name__}: {reason}"
            raise StopError(PromptNotMadeError(message, "request", life.number)) from error
        life.emit(events.PromptRendered(**life.now(), adapter=adapter.name, prompt=made.prompt))
        made, completions = self._conversed(adapter, made)
        if self.raw:
            return tuple((NOTHING, None) for _ in completions)
        try:
            return self._read(adapter, made, signature, completions)
        except StopError as stop:
            following = adapter.fallback_adapter() if self.fallback else None
            reading = stop.reading
            if reading is None or not isinstance(reading.exception, AdapterParseError):
                raise
            if following is None:
                return self._ask_again(adapter, made, signature, stop)
        life.next("fallback")
        life.emit(events.FallbackStarted(**life.now(), adapter=following.name, reason=stop_reason(reading)))
        return replace(self, reuse=None).ask(following, signature, demos, inputs, made.params)

    def _ask_again(
        self, adapter: Adapter, made: request.Request, signature: Signature, stop: StopError
    ) -> tuple[Outcome, ...]:
        """Let the model correct its reply, as often as allowed. Raises StopError."""
        life = self.lifecycle
        for _ in range(self.ask_again):
            if stop.reading is None:
                break
            before = len(made.prompt.messages)
            made = asked_again(made, stop.reading)
            following = tuple([one.as_dict() for one in made.prompt.messages[before:]])
            life.next("again")
            life.emit(events.AskedAgain(**life.now(), reason=stop_reason(stop.reading), messages=following))
            made, completions = self._conversed(adapter, made)
            try:
                return self._read(adapter, made, signature, completions)
            except StopError as another:
                stop = another
        raise stop

    def _conversed(self, adapter: Adapter, made: request.Request) -> tuple[request.Request, tuple[Completion, ...]]:
        """Return the last request and its completions, after all tool turns. Raises StopError."""
        life = self.lifecycle
        turns = unanswerable = 0
        while True:
            lm = self.lm.asked_by(adapter, made) if isinstance(self.lm, WritesAsTheAdapter) else self.lm
            completions = ModelCalls(life, lm, self.retries).call(adapter.name, made.as_dict())
            wanted = calls_of(adapter, made, completions[0], turns) if self.tools is not None else ()
            if self.tools is None or not wanted:
                return made, completions
            if turns >= self.tools.most_turns:
                message = f"The model still calls tools after {turns} turns, which is as many as it may take."
                raise StopError(RunError(message, "tool", life.number))
            names = {one.name: self.tools.find(one.name) for one in wanted}
            is_hopeless = all(tool is None or tool.answer is None for tool in names.values())
            unanswerable = unanswerable + 1 if is_hopeless else 0
            if unanswerable > MOST_UNANSWERABLE:
                message = f"The model calls {', '.join(names)} again, which has no result here. Give the tool a result."
                raise StopError(RunError(message, "tool", life.number))
            made = answered(adapter, made, completions[0], wanted, self.tools, life)
            turns += 1
            life.next("tools")

    def _read(
        self, adapter: Adapter, made: request.Request, signature: Signature, completions: tuple[Completion, ...]
    ) -> tuple[Outcome, ...]:
        """Parse every completion (TwoStep: up to a failure), and stop the run if any fails."""
        life = self.lifecycle
        place = len(life.attempts) - 1
        number = life.number
        outcomes: list[request.Outcome] = []
        read = None
        extracts = isinstance(adapter, TwoStepAdapter) and type(adapter).parse is TwoStepAdapter.parse
        if isinstance(adapter, TwoStepAdapter) and extracts:
            read = partial(observed_reading, adapter, read=partial(self._extracted, adapter))
        elif is_own(adapter.parse, Adapter.parse):  # a parser of the user's own notifies the callbacks itself
            read = partial(observed_reading, adapter, read=lambda _, text: request.read_reply(adapter, made, text))
        outputs: list[Any] = [one.as_output() for one in completions]
        if all(len(one) == 1 for one in outputs):  # as dspy's LM: texts, or dicts if any has more than text
            outputs = [one["text"] for one in outputs]
        for choice, (completion, output) in enumerate(zip(completions, outputs, strict=True)):
            if extracts and any(not one.reading.ok and not one.is_undecided for one in outcomes):
                break  # the run has failed: do not pay a second model for the rest
            life.check("Deadline expired while finalizing provider response.", "response")
            outcome = request.postprocess(adapter, made, signature, output, read)
            reading = outcome.reading.ending(completion.finish_reason, completion.refusal, made.params, made.prompt)
            outcomes.append(replace(outcome, reading=reading))
            attempt = life.attempts[place]
            known = list(attempt.completions) or [completion]  # an empty reply has none yet
            known[choice] = replace(known[choice], reading=reading)
            failure = attempt.error or (None if reading.ok else stop_reason(reading))
            life.attempts[place] = replace(attempt, completions=tuple(known), error=failure)
            now = life.seconds()
            told = events.ReplyRead(
                at=now, attempt=number, adapter=adapter.name, reading=reading, ok=reading.ok, choice=choice
            )
            life.emit(told)
        failed = request.first_failure(outcomes)
        if failed is not None:
            message = f"The reply could not be read as {adapter.name}: {stop_reason(failed)}"
            raise StopError(RunError(message, "response", number), failed)
        return tuple((one.values, one.reading) for one in outcomes)

    def _extracted(self, adapter: TwoStepAdapter, signature: Signature, completion: str) -> Reading:
        """Parse TwoStep's reply with the second model through Chat, as a separate attempt."""
        life = self.lifecycle
        chat = ChatAdapter()
        try:
            asked = extraction_signature(signature).made_by_a_call()
        except ValueError as error:
            raise StopError(RunError(f"{error}", "response", life.number)) from error
        life.next("extraction")
        life.emit(events.ExtractionStarted(**life.now(), adapter=chat.name, model=self.extraction_lm.model))
        second = replace(self, lm=self.extraction_lm, capabilities=None, tools=None, reuse=None, ask_again=0)
        inner: Reading | None
        try:
            inner = second.ask(chat, asked, [], {"text": completion}, NOTHING)[0][1]
        except StopError as stop:
            inner = stop.reading
            if inner is None:
                raise
        assert inner is not None
        return adapter.reading_of(signature, completion, inner)


def stop_reason(reading: Reading) -> str:
    """Return the parse error in a line, or `""`."""
    if reading.error is None:
        return ""
    message = one_line(reading.error.message)
    if isinstance(reading.exception, LookupError):  # whose text is the bare key
        return f"{reading.error.type}: {message}"
    return message or reading.error.type


def is_model(given: object) -> bool:
    """Return whether something has what `adapters.LM` has."""
    names = ("stream", "model", "capabilities")
    return not isinstance(given, type) and all(hasattr(given, name) for name in names)


def check_options(options: Mapping[str, object]) -> None:
    """Raise TypeError or ValueError for an unknown or a wrong option of `adapters.run`."""
    for name, given in options.items():
        if name not in EXPECTED:
            raise TypeError(
                f"run() has no option {name!r}; parameters of the model are given as params={{{name!r}: …}}, "
                f"and the options are {', '.join(EXPECTED)}"
            )
        fits, expected = EXPECTED[name]
        if not fits(given):
            kind = ValueError if isinstance(given, Real) and name in NUMBERS else TypeError
            told = repr(given) if kind is ValueError else type_name(given)
            raise kind(f"{name}: expected {expected}, got {told}")


def _is_whole(given: object, least: int) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= least


NUMBERS = ("n", "retries", "ask_again")
"""Options whose numbers have a least value."""

TOOLS = (
    "adapters.tools.tools.Tools((RunTool('name', 'description', {'type': 'object', 'properties': {…}}, answer),)), "
    "where `answer` is a function of the dict of arguments"
)

Fits = Callable[[Any], bool]

EXPECTED: Mapping[str, tuple[Fits, str]] = MappingProxyType(
    {
        "params": (lambda given: isinstance(given, Mapping), "a dict such as {'temperature': 0.2}"),
        "n": (lambda given: given is None or _is_whole(given, 1), "a whole number from 1 on, or None"),
        "deadline_s": (
            lambda given: given is None or (isinstance(given, Real) and not isinstance(given, bool)),
            "seconds as a number, or None",
        ),
        "cancel": (lambda given: given is None or hasattr(given, "is_set"), "a threading.Event, or None"),
        "retries": (lambda given: _is_whole(given, 0), "a whole number from 0 on"),
        "ask_again": (lambda given: _is_whole(given, 0), "a whole number from 0 on"),
        "tools": (
            lambda given: (
                given is None or (isinstance(given, Tools) and all(isinstance(one, RunTool) for one in given.tools))
            ),
            TOOLS,
        ),
        "extraction_lm": (
            lambda given: given is None or is_model(given),
            "a model of adapters.open_model(…), or an object with `stream`, `model` and `capabilities`",
        ),
        "capabilities": (
            lambda given: given is None or isinstance(given, Capabilities),
            "adapters.Capabilities(…), or None",
        ),
        "listeners": (lambda given: isinstance(given, Iterable) and not isinstance(given, str), "a list of functions"),
        "raw": (lambda given: isinstance(given, bool), "True or False"),
        "held": (lambda given: isinstance(given, bool), "True or False"),
        "reuse": (lambda given: given is None or isinstance(given, Prompt), "an earlier adapters.Prompt, or None"),
        "clock": (callable, "a function that returns seconds"),
    }
)
"""A test and a description for each option."""
