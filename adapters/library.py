"""Read signatures, render prompts, parse replies and call models.

The functions accept a signature as text (either notation), as a `Signature`, or as a live `dspy.Signature` class, and
an adapter by name or as an object. `adapters` exports them; `docs/library.md` has examples.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Real
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack, runtime_checkable

from adapters.display.as_text import ShowsItself
from adapters.display.blocks import Beside, Note, Shown
from adapters.errors import type_name
from adapters.formats import catalog
from adapters.formats.base import Adapter, is_own, observed_reading
from adapters.late_dataclasses import dataclass, field
from adapters.lm.protocol import LM
from adapters.prompts.text import Demos, Prompt, Values
from adapters.replies.reading import Reading
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures import notation
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs

if TYPE_CHECKING:
    from adapters.requests.capabilities import Capabilities
    from adapters.running import events
    from adapters.tools.tools import Tools


class RunOptions(TypedDict, total=False):
    """Further arguments of `run`, passed to `adapters.running.runner.run`."""

    params: Mapping[str, Any]
    """Model parameters such as `{"temperature": 0.2}`."""
    n: int | None
    """Number of completions; `Run.all_values` has the values of each."""
    deadline_s: float | None
    """Time limit for the whole run, in seconds from now."""
    cancel: Event | None
    """An event that ends the run when another thread sets it."""
    retries: int
    """Maximum number of retries of a call that failed for a temporary reason."""
    ask_again: int
    """Maximum number of times that a parse error is sent back to the model; dspy never does this."""
    tools: Tools | None
    """Tools that the model may call, and that the run executes."""
    extraction_lm: LM | None
    """TwoStep's second model; None uses the same model."""
    capabilities: Capabilities | None
    """Replacement for the model's own capabilities."""
    listeners: Iterable[events.Listener]
    """Functions called with every event as it happens."""
    raw: bool
    """True to keep the reply as text, unparsed."""
    held: bool
    """True if `params` belong to the model, as in `dspy.LM(…)`, instead of to this call."""
    reuse: Prompt | None
    """An earlier prompt; its rendered demos are reused where the demos are the same."""
    clock: Callable[[], float]


def read_signature(text: str, class_name: str | None = None) -> Signature:
    """Read a signature from `"question -> answer: float"` or from Python source with a signature class.

    Source is parsed, never executed. `class_name` selects among several classes. Raises `SignatureError` with line,
    column and a hint, and `TypeError` for anything but text.
    """
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a signature, got {type_name(text)}")
    return notation.read(text, class_name)


def make_adapter(name: str, **options: object) -> Adapter:
    """Make an adapter by name (`chat`, `json`, `xml`, `baml`, `twostep`, `markdown`, or registered by a package).

    `options` are dspy's constructor arguments. Raises `ValueError` for an unknown name or option.
    """
    if not isinstance(name, str):
        raise TypeError(f"name: expected the name of an adapter such as 'json', got {type_name(name)}")
    return catalog.make(name, options, shared=False)


def open_model(
    name: str,
    *,
    api_base: str | None = None,
    api_version: str | None = None,
    api_base_trusted: bool = False,
    allow_hosts: Collection[str] = (),
    capabilities: Capabilities | None = None,
    timeout: float = 600.0,
    stream: bool = True,
) -> LM:
    """Open a model by name: `offline/exact` and its siblings, or any `provider/model` of litellm.

    `api_base` replaces the provider's address. It gets the API key of your environment only with `api_base_trusted`, or
    when `allow_hosts` contains its host. `api_version` is Azure's. `capabilities` replace the known ones. `timeout` is
    in seconds without a byte. Opens no connection before the first call. Raises `ProviderError` for an unknown offline
    model.
    """
    from adapters import lm

    _check_model(name, api_base, allow_hosts, capabilities, timeout)
    return lm.open(
        name,
        api_base=api_base,
        api_version=api_version,
        api_base_trusted=api_base_trusted,
        allow_hosts=allow_hosts,
        capabilities=capabilities,
        timeout=timeout,
        stream=stream,
    )


def render(
    signature: Signature | str | type,
    inputs: Mapping[str, object],
    *,
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, object]] = (),
) -> Prompt:
    """Render the messages, each character with its origin; `.as_dicts()` returns `[{"role", "content"}, …]`.

    Plain JSON for a custom type (`Image`, `History`, …) is converted. Raises what dspy's `format` raises, `ValueError`
    for JSON that a custom type rejects, and `TypeError` for an argument of the wrong kind.
    """
    asked = signature_of(signature)
    return adapter_of(adapter).render(asked, _demos(asked, demos), build_inputs(asked, _mapping("inputs are", inputs)))


def read(signature: Signature | str | type, reply: str, *, adapter: Adapter | str = "chat") -> Reading:
    """Parse a reply; return `ok`, `values`, `error`, `spans`, `fields` with their steps, and `flags`.

    Never raises for a bad reply. `adapter.parse` returns only the values, or raises dspy's error.
    """
    reader, asked = adapter_of(adapter), signature_of(signature)
    if is_own(reader.parse, Adapter.parse):
        return observed_reading(reader, asked, reply, reader.read)
    return reader.read(asked, reply)


def run(
    signature: Signature | str | type,
    inputs: Mapping[str, object],
    *,
    model: LM | str = "offline/exact",
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, object]] = (),
    fallback: bool = False,
    **options: Unpack[RunOptions],
) -> Run:
    """Call a model and parse its reply; return `ok`, `values`, `attempts`, `events`, `error`. Blocks.

    `fallback` asks again through JSON if the adapter supports it. `options` are those of `RunOptions`: `params`, `n`,
    `deadline_s`, `cancel`, `retries`, `tools`, `extraction_lm`, …. A failed call is in the result. Raises only for
    errors before sending: an invalid signature, an unknown name, JSON that a custom type rejects, or an argument of the
    wrong type.
    """
    runner.check_options(options)
    asked, asking, lm = signature_of(signature), adapter_of(adapter), _model(model)
    worked, given = _demos(asked, demos), build_inputs(asked, _mapping("inputs are", inputs))
    return runner.run(asking, lm, asked, worked, given, fallback=fallback, **options)


def adapter_of(adapter: Adapter | str) -> Adapter:
    """Return an adapter given by name or as an object.

    Raises ValueError for an unknown name, TypeError for an argument of the wrong type.
    """
    if isinstance(adapter, str):
        return catalog.make(adapter)
    if not isinstance(adapter, Adapter):
        expected = "a name or an object such as adapters.ChatAdapter()"
        raise TypeError(f"adapter: expected {expected}, got {type_name(adapter)}")
    return adapter


def signature_of(signature: Signature | str | type) -> Signature:
    """Return a signature given as text, as a `Signature`, or as a live dspy class.

    Raises SignatureError, and TypeError for an argument of the wrong type.
    """
    if isinstance(signature, Signature):
        return signature
    if isinstance(signature, str):
        return read_signature(signature)
    if not isinstance(signature, type) or not hasattr(signature, "fields"):
        hint = ""
        if hasattr(signature, "signature"):  # a live `dspy.Predict`
            hint = ": give its `.signature`"
        elif hasattr(getattr(signature, "predict", None), "signature"):  # a live `dspy.ChainOfThought`
            hint = ": give its `.predict.signature`"
        raise TypeError(
            "a signature is a text such as 'question -> answer', an adapters.Signature or a dspy.Signature class; "
            f"not {type_name(signature)}{hint}"
        )
    return Signature.from_dspy(signature)


def _model(model: LM | str) -> LM:
    if isinstance(model, str):
        return open_model(model)
    if not runner.is_model(model):
        raise TypeError(
            f"model: expected a name or an object with `stream`, `model` and `capabilities`, got {type_name(model)}"
        )
    return model


def _check_model(name: object, api_base: object, allow_hosts: object, capabilities: object, timeout: object) -> None:
    """Raise TypeError or ValueError for a wrong argument of `open_model`."""
    from adapters.requests.capabilities import Capabilities

    if not isinstance(name, str):
        raise TypeError(f"name: expected the name of a model such as 'openai/gpt-4o', got {type_name(name)}")
    if not name.strip():
        raise ValueError("name: expected the name of a model such as 'openai/gpt-4o', got an empty text")
    if api_base is not None and not isinstance(api_base, str):
        raise TypeError(f"api_base: expected an address such as 'http://localhost:8000/v1', got {type_name(api_base)}")
    if isinstance(allow_hosts, str) or not isinstance(allow_hosts, Collection):
        expected = "a list of hosts such as ['localhost:8000']"
        raise TypeError(f"allow_hosts: expected {expected}, got {type_name(allow_hosts)}")
    if capabilities is not None and not isinstance(capabilities, Capabilities):
        raise TypeError(f"capabilities: expected adapters.Capabilities(…), got {type_name(capabilities)}")
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TypeError(f"timeout: expected seconds as a number, got {type_name(timeout)}")
    if float(timeout) <= 0:
        raise ValueError(f"timeout: expected more than 0 seconds, got {timeout}")


def _demos(signature: Signature, demos: Demos) -> list[Values]:
    if isinstance(demos, str) or hasattr(demos, "items") or not isinstance(demos, Iterable):
        raise TypeError(f"demos: expected a list of mappings of field names to values, got {type_name(demos)}")
    return [build_inputs(signature, _mapping("each demo is", demo)) for demo in demos]


def _mapping(what: str, given: Values) -> Values:
    """Accept a mapping, or an object that behaves like a mapping (`dspy.Example`)."""
    if not hasattr(given, "items"):
        raise TypeError(f"{what} a mapping of field names to values; not {type_name(given)}")
    return given


@runtime_checkable
class Predictor(Protocol):
    """A live `dspy.Predict`, recognized by its attributes."""

    signature: Any
    demos: Any


@dataclass(frozen=True)
class Side:
    """One adapter's prompt or render error, and its parse result if there is a reply."""

    name: str
    prompt: Prompt | None
    reading: Reading | None = None
    error: str = ""

    def shown(self) -> Shown:
        blocks = () if self.prompt is None else self.prompt.shown().blocks
        refused = (Note(f"✗ {self.error}", "bad"),) if self.error else ()
        read_as = () if self.reading is None else self.reading.shown().blocks
        return Shown(self.name, (*refused, *read_as, *blocks))


@dataclass(frozen=True)
class Comparison(ShowsItself):
    """The sides by adapter name, in the order requested; further ones of the same name are numbered."""

    sides: Mapping[str, Side] = field(repr=False)

    def __getitem__(self, name: str) -> Side:
        return self.sides[name]

    def shown(self) -> Shown:
        return Shown("", (Beside(tuple([one.shown() for one in self.sides.values()])),))


def compare(
    signature: Signature | str | type | Predictor,
    inputs: Mapping[str, object],
    *,
    adapters: Sequence[Adapter | str] = catalog.NAMES,
    demos: Sequence[Mapping[str, object]] | None = None,
    reply: str | None = None,
) -> Comparison:
    """Render the same signature and inputs with each of `adapters`, and parse `reply` with each.

    `signature` is as for `render`, or a live `dspy.Predict`, whose demos are the default for `demos`.
    If an adapter cannot render, its side has an `error`. Raises what `render` raises for an unknown name or signature.
    """
    if isinstance(signature, Predictor):
        asked, worked = signature_of(signature.signature), signature.demos if demos is None else demos
    else:
        asked, worked = signature_of(signature), demos or ()
    if isinstance(adapters, str) or not isinstance(adapters, Iterable):
        raise TypeError(f"adapters: expected a list of names and objects, got {type_name(adapters)}")
    sides: dict[str, Side] = {}
    for one in adapters:
        adapter = adapter_of(one)
        number, name = 1, adapter.name
        while name in sides:  # as for two of one's own, which are both `custom`
            number += 1
            name = f"{adapter.name} {number}"
        reading = None if reply is None else read(asked, reply, adapter=adapter)
        try:
            sides[name] = Side(name, render(asked, inputs, adapter=adapter, demos=worked), reading)
        except TypeError:
            raise
        except Exception as error:  # anything that dspy's format raises for this signature and these values
            sides[name] = Side(name, None, reading, f"{type(error).__name__}: {error}")
    return Comparison(sides)
