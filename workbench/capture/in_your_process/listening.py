"""Callbacks for dspy, any release from 2.6 on: write a line for each predictor call and everything in it.

Objects are recognised by their attributes: dspy is not imported, and nothing of it is changed. Handlers never raise: an
error here is reported once and never reaches the program.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
import weakref
from typing import Any, Callable, Iterator, NamedTuple

from . import describing
from .outlet import Outlet
from .plain_values import dumps, typed

_SECRET = re.compile(
    r"key|secret|passw|authorization|credential|cookie|bearer|header|(^|_)(token|auth)$", re.IGNORECASE
)
_SECRET_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_NO_SECRET = ("prompt_cache_key",)
_LEFT_OUT = "(left out: it is a key)"
_MOST_REMEMBERED = 1_000


class _Call:
    """An active call: of a module, a predictor, an adapter's `format` or `parse`, or a model."""

    __slots__ = ("attempts", "data", "instance", "kind", "parent", "predictor")

    def __init__(self, kind: str, instance: Any, parent: _Call | None) -> None:
        self.kind = kind
        self.instance = instance
        self.parent = parent
        self.predictor: _Call | None = self if kind == "predictor" else parent.predictor if parent is not None else None
        self.data: dict[str, Any] = {}
        self.attempts: list[dict[str, Any]] = []

    def enclosing(self) -> Iterator[_Call]:
        """Yield the calls around this call, innermost first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


class _KnownSignature(NamedTuple):
    """A described signature. Keeps a reference to the class, so that its id stays unique."""

    cls: Any
    key: str
    definition: str
    title: str
    own_name: str
    """Its class's name if used as written: all calls of it share a session."""


def _guarded(handler: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(handler)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            handler(self, *args, **kwargs)
        except Exception as error:  # the program comes first
            self.outlet.lose(f"a call is not captured: {type(error).__name__}: {error}"[:300])
            predictor = self._of_this_thread()
            if predictor is not None:
                predictor.data["is lost"] = True

    return guarded


class Listener:
    """A callback for `dspy.configure(callbacks=[…])`."""

    def __init__(self, outlet: Outlet) -> None:
        self.outlet = outlet
        self._calls: dict[str, _Call] = {}
        self._signatures: dict[tuple[int, str], _KnownSignature] = {}
        self._names: dict[int, tuple[Any, dict[int, str]]] = {}
        self._models: dict[tuple[int, str], tuple[Any, dict[str, Any] | None]] = {}
        self._formats: dict[tuple[int, str], Any] = {}
        self._secrets: tuple[str, ...] = ()

    def __deepcopy__(self, memo: Any) -> Listener:
        return self  # copies of a module share the listener

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # events of tools, evaluations, interpreters, and later releases
            return lambda *args, **kwargs: None
        raise AttributeError(name)

    def _of_this_thread(self) -> _Call | None:
        """Return the current call."""
        callbacks = sys.modules.get("dspy.utils.callback")
        active = getattr(callbacks, "ACTIVE_CALL_ID", None)
        return None if active is None else self._calls.get(active.get())

    @_guarded
    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        has_signature = hasattr(instance, "signature")
        if hasattr(instance, "model") and hasattr(instance, "history") and not has_signature:
            self.on_lm_start(call_id, instance, inputs)  # dspy 2.6 reports a user's own model class as a module
            return
        parent = self._of_this_thread()
        is_predictor = has_signature and hasattr(instance, "demos")
        call = _Call("predictor" if is_predictor else "module", instance, parent)
        if is_predictor:
            given = inputs.get("kwargs") or {}
            call.data["signature"] = given.get("signature") or instance.signature
            call.data["config"] = {**(getattr(instance, "config", None) or {}), **(given.get("config") or {})}
        self._calls[call_id] = call

    @_guarded
    def on_module_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        if call.kind == "model":
            attempt = call.data.get("attempt")
            if attempt is not None and exception is not None:
                attempt["error"] = json.dumps(f"{type(exception).__name__}: {exception}"[:1_000])
            elif attempt is not None:
                attempt["outputs"] = dumps(outputs if isinstance(outputs, list) else [outputs])
        elif call.kind == "predictor" and call.attempts and not call.data.get("is lost"):
            key, definition = self._signature(call)
            completions = (
                [] if exception is not None else [json.dumps(_typed_values(one)) for one in _completions(outputs)]
            )
            error = None if exception is None else {"type": type(exception).__name__, "message": str(exception)[:2_000]}
            pieces = {
                "signature": json.dumps(key),
                "name": json.dumps(self._name(call)),
                "inputs": call.data["inputs"],
                "demos": call.data["demos"],
                "config": dumps(_without_secrets(call.data["config"])),
                "attempts": _list(_attempt(one) for one in call.attempts),
                "values": _list(completions),
                "error": json.dumps(error),
            }
            self.outlet.put(self._clean(_object(pieces)), key, definition)

    @_guarded
    def on_adapter_format_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        parent = self._of_this_thread()
        call = _Call("format", instance, parent)
        self._calls[call_id] = call
        # An adapter reports `format` once for each class in its hierarchy: only the outermost counts.
        if call.predictor is None or (parent is not None and parent.kind == "format"):
            return
        owner = call.predictor
        if "inputs" not in owner.data:
            given = _by_name(inputs, ("signature", "demos", "inputs"))
            owner.data["inputs"] = dumps(given["inputs"])
            owner.data["demos"] = dumps([_fields_of(one) for one in given["demos"] or ()])
        # A prompt that is made during parsing is for TwoStep's second model.
        around = [one.kind for one in call.enclosing() if one.kind in ("parse", "predictor", "module")]
        options = {
            name: value
            for name, value in vars(instance).items()
            if not name.startswith("_") and (value is None or isinstance(value, (bool, int, str)))
        }
        classes = [f"{one.__module__}:{one.__name__}" for one in type(instance).__mro__ if one is not object]
        adapter = {"classes": classes, "options": options}
        owner.attempts.append({"adapter": adapter, "is_extraction": around[:1] == ["parse"]})

    @_guarded
    def on_adapter_format_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        self._calls.pop(call_id, None)

    @_guarded
    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        call = _Call("model", instance, self._of_this_thread())
        self._calls[call_id] = call
        owner = call.predictor
        if owner is None or not owner.attempts:
            return
        attempt = owner.attempts[-1]
        if "messages" in attempt:  # a retry of the same prompt
            attempt = {key: attempt[key] for key in ("adapter", "is_extraction")}
            owner.attempts.append(attempt)
        given = inputs.get("kwargs") or {}
        attempt["messages"] = dumps(inputs.get("messages") or [{"role": "user", "content": inputs.get("prompt") or ""}])
        attempt["params"] = dumps(self._parameters(given, owner))
        attempt["model"] = self._model(instance)
        call.data["attempt"] = attempt

    on_lm_end = on_module_end

    @_guarded
    def on_adapter_parse_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        parent = self._of_this_thread()
        call = _Call("parse", instance, parent)
        self._calls[call_id] = call
        is_outermost = parent is None or parent.kind != "parse" or parent.instance is not instance
        if call.predictor is not None and call.predictor.attempts and is_outermost:
            call.data["attempt"] = call.predictor.attempts[-1]

    @_guarded
    def on_adapter_parse_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        call = self._calls.pop(call_id, None)
        attempt = call.data.get("attempt") if call is not None else None
        if attempt is not None:
            read = {"error": type(exception).__name__} if exception is not None else {"values": _typed_values(outputs)}
            attempt.setdefault("readings", []).append(json.dumps(read))

    def _clean(self, line: str) -> str:
        for secret in self._secrets:
            if secret in line:
                line = line.replace(secret, _LEFT_OUT)
        return line

    def _signature(self, call: _Call) -> tuple[str, str]:
        """Return the key of the call's signature, and the line that defines it."""
        known = self._signatures.get(self._signature_key(call))
        if known is None:
            cls, programs = call.data["signature"], [one.instance for one in call.enclosing()]
            described = describing.signature(cls, programs)
            title = described["of"]["class"] if described["of"] is not None else _title(cls)
            text = self._clean(dumps(described))
            # The key depends on content, as a program may create its predictors for each call.
            key = hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
            files = dumps(describing.files(cls, programs))
            definition = f'{{"define":"{key}","signature":{text},"files":{files}}}'
            react = described.get("react", {})
            of_agent = react.get("of")
            own = title if described["of"] is not None and described["as_written"] else ""
            own = own if of_agent is None else f"{of_agent['class']}.{react['part']}"
            made = _KnownSignature(cls, key, definition, title, own)
            known = _remember(self._signatures, self._signature_key(call), made)
        return known.key, known.definition

    def _signature_key(self, call: _Call) -> tuple[int, str]:
        return id(call.data["signature"]), type(call.parent.instance).__name__ if call.parent is not None else ""

    def _name(self, call: _Call) -> str:
        """Name the predictor by the class of its signature, else within the outermost module: `RAG.respond`."""
        known = self._signatures[self._signature_key(call)]
        if known.own_name:
            return known.own_name
        root = call
        while root.parent is not None and root.parent.kind in ("module", "predictor"):
            root = root.parent
        own = known.title
        if root is call:
            return own
        remembered = self._names.get(id(root.instance))
        if remembered is None or remembered[0]() is not root.instance or id(call.instance) not in remembered[1]:
            names = {id(one): name for name, one in root.instance.named_predictors()}
            remembered = _remember(self._names, id(root.instance), (weakref.ref(root.instance), names))
        path = remembered[1].get(id(call.instance), "")
        parts = [one for one in path.split(".") if one != "self"]
        if len(parts) > 1 and parts[-1] == "predict":
            parts.pop()
        if type(root.instance).__module__.partition(".")[0] == "dspy":
            of_root = getattr(root.instance, "signature", None)
            head = _title(of_root) if of_root is not None else own
            if parts == ["predict"]:
                parts = []
        else:
            head = type(root.instance).__name__
        return ".".join([one for one in (head, *parts) if one])

    def _model(self, instance: Any) -> str:
        """Return name, parameters and abilities of a model as JSON."""
        name = str(getattr(instance, "model", ""))
        known = self._models.get((id(instance), name))
        if known is None or known[0] is not instance:
            self._secrets = tuple(dict.fromkeys([*self._secrets, *_secrets_of(instance)]))
            abilities: dict[str, Any] | None = None  # of a dspy that asks litellm for them
            if hasattr(type(instance), "supported_params"):
                abilities = {
                    "function_calling": bool(instance.supports_function_calling),
                    "reasoning": bool(instance.supports_reasoning),
                    "response_schema": bool(instance.supports_response_schema),
                    "params": sorted(str(one) for one in instance.supported_params),
                }
            known = _remember(self._models, (id(instance), name), (instance, abilities))
        params = _without_secrets(getattr(instance, "kwargs", None) or {})
        return dumps({"name": name, "params": params, "abilities": known[1]})

    def _parameters(self, given: dict[str, Any], owner: _Call) -> dict[str, Any]:
        """Return the parameters besides the messages; a response class as its schema."""
        params = _without_secrets(given)
        form = params.get("response_format")
        if isinstance(form, type) and hasattr(form, "model_json_schema"):
            key = (id(owner.data["signature"]), form.__name__)
            if key not in self._formats:
                _remember(self._formats, key, (owner.data["signature"], form.model_json_schema()))
            params["response_format"] = {"$class": form.__name__, "schema": self._formats[key][1]}
        return params


def _remember(known: dict[Any, Any], key: Any, value: Any) -> Any:
    """Store a value and return it; forget all others before there are too many."""
    if len(known) >= _MOST_REMEMBERED:
        known.clear()
    known[key] = value
    return value


def _title(cls: Any) -> str:
    """Name a signature by its class, or by its fields if made from a string."""
    name = str(cls.__name__)
    return name if name != "StringSignature" else "_".join(cls.input_fields) + "-" + "_".join(cls.output_fields)


def _by_name(inputs: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return a call's arguments by name. dspy gives them by position if a class inherits the method."""
    if "args" not in inputs or names[-1] in inputs:
        return inputs
    in_order = dict(zip(names, inputs["args"]))  # noqa: B905  (Python 3.9 knows no `strict`)
    return {**in_order, **(inputs.get("kwargs") or {})}


def _attempt(attempt: dict[str, Any]) -> str:
    pieces = {
        "adapter": json.dumps(attempt["adapter"]),
        "is_extraction": json.dumps(attempt["is_extraction"]),
        "messages": attempt.get("messages", "[]"),
        "params": attempt.get("params", "{}"),
        "model": attempt.get("model", "null"),
        "outputs": attempt.get("outputs", "[]"),
        "error": attempt.get("error", "null"),
        "readings": _list(attempt.get("readings", ())),
    }
    return _object(pieces)


def _object(pieces: dict[str, str]) -> str:
    return "{" + ",".join(f'"{name}":{text}' for name, text in pieces.items()) + "}"


def _list(texts: Any) -> str:
    return "[" + ",".join(texts) + "]"


def _fields_of(example: Any) -> dict[str, Any]:
    """Return a demo's values by name."""
    store = getattr(example, "_store", None)
    return dict(store) if isinstance(store, dict) else dict(example)


def _completions(prediction: Any) -> list[Any]:
    """Return the values of each completion of a prediction."""
    completions = getattr(prediction, "completions", None)
    try:
        columns = dict(completions.items())  # type: ignore[union-attr]
        count = len(next(iter(columns.values())))
        return [{name: values[index] for name, values in columns.items()} for index in range(count)]
    except (AttributeError, StopIteration, TypeError, IndexError):
        return [_fields_of(prediction)]


def _typed_values(values: Any) -> dict[str, Any]:
    return {str(name): typed(value) for name, value in dict(values).items()}


def _without_secrets(params: Any) -> dict[str, Any]:
    return {
        str(name): value for name, value in dict(params).items() if not _SECRET.search(str(name)) or name in _NO_SECRET
    }


def _secrets_of(model: Any) -> list[str]:
    """Return secrets that may appear in calls: those of the environment and the model's own."""
    found = [value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name)]
    for name, value in dict(getattr(model, "kwargs", None) or {}).items():
        if _SECRET.search(str(name)) and name not in _NO_SECRET:
            found += [str(one) for one in value.values()] if isinstance(value, dict) else [str(value)]
    # Short keys and plain words are excluded, as they would be cut out of sentences.
    return [json.dumps(one)[1:-1] for one in found if len(one) >= 8 and not (one.isalpha() and one[1:].islower())]
