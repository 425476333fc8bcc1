"""The whole way in four calls: a signature is read, a prompt rendered, a reply read, a model asked.

Each takes the signature as text (either notation), as a `Signature`, or as a live `dspy.Signature` class, and the
adapter by name or as an object. `adapters` exports these functions; `docs/library.md` shows them at work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.lm.protocol import LM
from adapters.prompts.prompt import Prompt
from adapters.replies.reading import Reading
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures import notation
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs

if TYPE_CHECKING:
    from adapters.requests.capabilities import Capabilities
    from adapters.running import events
    from adapters.tools import Tools


class RunOptions(TypedDict, total=False):
    """What `run` takes beside its own arguments; `adapters.running.runner.run` says what each does."""

    params: Mapping[str, Any]
    """Parameters of the model, as `{"temperature": 0.2}`."""
    n: int | None
    """How many completions are asked for; `Run.all_values` has those of each."""
    deadline_s: float | None
    """Seconds from now for the whole run."""
    cancel: Event | None
    """Set it from another thread to end the run."""
    retries: int
    """How often a call that failed for a passing reason is made again."""
    tools: Tools | None
    """Offered to the model, and called for it."""
    extraction_lm: LM | None
    """TwoStep's second model; None: the same."""
    capabilities: Capabilities | None
    """In the place of the model's own."""
    listeners: Iterable[events.Listener]
    """Each is called with every event as it happens."""
    raw: bool
    """The reply is kept as text and not read."""
    held: bool
    """Whether `params` are the model's own, as in `dspy.LM(…)`, and not those of this call."""
    reuse: Prompt | None
    """An earlier prompt, whose demos are taken over where they are the same."""
    clock: Callable[[], float]


def read_signature(text: str, class_name: str | None = None) -> Signature:
    """The signature that `text` writes: `"question -> answer: float"`, or Python source with a signature class.

    Source is read and never run. `class_name` chooses among several classes. Raises `SignatureError` with line, column
    and what would work.
    """
    return notation.read(text, class_name)


def make_adapter(name: str, **options: Any) -> Adapter:
    """An adapter by name (`chat`, `json`, `xml`, `baml`, `twostep`, `markdown`, or one that a package registered).

    `options` are dspy's names of the constructor. Raises `ValueError` for a name or an option that there is not.
    """
    return catalog.make(name, options)


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
    """A model by name: `offline/exact` and its siblings, or any `provider/model` of litellm.

    `api_base` is an address in the place of the provider's. It gets the key of your environment only with
    `api_base_trusted`, or when its host stands in `allow_hosts`. `api_version` is Azure's. `capabilities` stand in for
    those that are known of the name. `timeout` is in seconds without a byte. Nothing is started and nobody is asked
    before the first call. Raises `ProviderError` for an offline model that there is not.
    """
    from adapters import lm

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
    inputs: Mapping[str, Any],
    *,
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, Any]] = (),
) -> Prompt:
    """The messages, each character with its origin; `.as_dicts()` gives `[{"role", "content"}, …]`.

    Plain JSON in the place of a custom type (`Image`, `History`, …) is made into one. Raises what dspy's `format`
    raises, `ValueError` for JSON that a custom type does not take, and `TypeError` for an argument of another kind.
    """
    asked = signature_of(signature)
    return adapter_of(adapter).render(asked, _demos(asked, demos), _inputs(asked, inputs))


def read(signature: Signature | str | type, reply: str, *, adapter: Adapter | str = "chat") -> Reading:
    """The whole account of a reply: `ok`, `values`, `error`, `spans`, `fields` with their steps, `flags`.

    Never raises for a bad reply. `adapter.parse` gives the values alone, or raises dspy's error.
    """
    return adapter_of(adapter).read(signature_of(signature), reply)


def run(
    signature: Signature | str | type,
    inputs: Mapping[str, Any],
    *,
    model: LM | str = "offline/exact",
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, Any]] = (),
    fallback: bool = False,
    **options: Unpack[RunOptions],
) -> Run:
    """Asks a model and reads its reply: `ok`, `values`, `attempts`, `events`, `error`. Blocks; no failure is raised.

    `fallback` asks again through JSON where the adapter has that. `options`: `params` of the model, `n`, `deadline_s`,
    `cancel`, `retries`, `tools`, `extraction_lm` and the others of `RunOptions`. Raises only what is wrong before
    anything is sent: a signature, a name, a custom type's JSON, or an argument of another kind.
    """
    asked, asking, lm = signature_of(signature), adapter_of(adapter), _model(model)
    return runner.run(asking, lm, asked, _demos(asked, demos), _inputs(asked, inputs), fallback=fallback, **options)


def adapter_of(adapter: Adapter | str) -> Adapter:
    """An adapter by name or as it is. Raises ValueError for a name that there is not, TypeError for another kind."""
    if isinstance(adapter, str):
        return catalog.make(adapter)
    if not isinstance(adapter, Adapter):
        raise TypeError(f"an adapter is a name or an object, such as adapters.ChatAdapter(); not {_kind(adapter)}")
    return adapter


def signature_of(signature: Signature | str | type) -> Signature:
    """A signature as text, as it is, or from a live class. Raises SignatureError, and TypeError for another kind."""
    if isinstance(signature, Signature):
        return signature
    if isinstance(signature, str):
        return read_signature(signature)
    if not hasattr(signature, "fields"):
        raise TypeError(
            "a signature is a text such as 'question -> answer', an adapters.Signature or a dspy.Signature class; "
            f"not {_kind(signature)}"
        )
    return Signature.from_dspy(signature)


def _model(model: LM | str) -> LM:
    if isinstance(model, str):
        return open_model(model)
    if not hasattr(model, "stream"):
        raise TypeError(f"a model is a name or an object with `stream`, `model` and `capabilities`; not {_kind(model)}")
    return model


def _inputs(signature: Signature, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return build_inputs(signature, _mapping("inputs are", inputs))


def _demos(signature: Signature, demos: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    if isinstance(demos, str) or hasattr(demos, "items"):
        raise TypeError(f"demos are a list of mappings of field names to values; not {_kind(demos)}")
    return [build_inputs(signature, _mapping("each demo is", demo)) for demo in demos]


def _mapping(what: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """A mapping, or what behaves as one without being one (`dspy.Example`)."""
    if not hasattr(given, "items"):
        raise TypeError(f"{what} a mapping of field names to values; not {_kind(given)}")
    return given


def _kind(given: object) -> str:
    return f"the class {given.__name__}" if isinstance(given, type) else f"{type(given).__name__}"
