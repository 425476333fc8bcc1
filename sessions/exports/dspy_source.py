"""Export a Python module for dspy that produces the same messages: signature, models, demos, adapter, call."""

from __future__ import annotations

import re
from typing import Any

import pydantic
import typing_extensions

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.formats.profile import EXTRACTION_OPTION, FALLBACK_OPTION
from adapters.late_dataclasses import dataclass, replace
from adapters.late_dataclasses import field as with_options
from adapters.signatures import notation
from adapters.signatures.class_writer import is_name
from adapters.signatures.signature import Signature
from adapters.signatures.type_names import notes_of, walk
from adapters.signatures.value_writer import text_literal
from adapters.tools.tools import add_tool_fields, set_tool_input
from sessions.exports.endpoints import OFFLINE, headers_literal, headers_of, key_goes_there
from sessions.exports.exported import Exported, ExportError, Source, View, beside, comment, enclosed, literal
from sessions.exports.litellm_script import NO_KEY
from sessions.imports.proposing import in_source
from sessions.imports.reading import KEPT
from sessions.model import variants
from sessions.running import rendering
from sessions.running.recording import DSPY, as_json
from sessions.running.tools import described_tools

EXPERIMENTAL = ("Citations", "Document")
TOOL_STUB = """def {name}(**arguments):
    {doc}# A tool is described here and not run: put your function in its place.
    raise NotImplementedError("a tool without a function")"""
NOT_RUN = "not_run"
NOT_DESCRIBED = "not_described"
"""The stub of a tool with an empty description; dspy would use the function's docstring instead."""


@dataclass(eq=False)
class ValueSource:
    """Writes values as source; collects the modules (`needs`) and function stubs (`tools`) that they use."""

    needs: set[str] = with_options(default_factory=set)
    tools: set[str] = with_options(default_factory=set)

    def write(self, value: object, indent: str = "") -> str:
        """Write an expression for `value`. Raises ExportError for an object of a type that dspy lacks."""
        if isinstance(value, pydantic.BaseModel):
            return self._custom(value, indent)
        if isinstance(value, dict | list | tuple | str | int | float) or value is None:
            return literal(value, indent, self.write)
        raise ExportError(f"a value of the type {type(value).__name__} cannot be written as source")

    def _custom(self, value: pydantic.BaseModel, indent: str) -> str:
        cls = type(value)
        if not cls.__module__.startswith("adapters.types."):
            raise ExportError(f"dspy has no type {cls.__name__}, so values of it cannot be exported")
        arguments = {
            name: getattr(value, name)
            for name, info in cls.model_fields.items()
            if name != "func" and getattr(value, name) != info.get_default(call_default_factory=True)
        }
        function = []
        if cls.__name__ == "Tool":
            function = [NOT_DESCRIBED if arguments.get("desc") == "" else NOT_RUN]
            self.tools.update(function)
            arguments = {name: arguments[name] for name in ("name", "desc", "args") if name in arguments}
        head = f"dspy.{cls.__qualname__}"
        if cls.__qualname__.partition(".")[0] in EXPERIMENTAL:
            self.needs.add("dspy.experimental")
            head = f"dspy.experimental.{cls.__qualname__}"
        elif cls.__name__.startswith("Code"):
            head = f"dspy.Code[{text_literal(str(getattr(cls, 'language', None)))}]"
        written = [f"{name}={self.write(one, indent + '    ')}" for name, one in arguments.items()]
        return enclosed(f"{head}(", function + written, ")", indent)


NOT_OF_DSPYS_LM = ("capabilities", "header_variables", "stream")
"""Parameters of a session that `dspy.LM` does not accept, or not by this name."""

NOT_AT_THE_TOP = ("BAMLAdapter",)
"""Adapters of dspy that `import dspy` does not export."""
OTHER_ORDER = (
    "the order of the classes: Python needs another, and where a class follows the class that uses it, dspy shows "
    "only its name, so the prompt differs there"
)
DSPYS_WORDS = ("self", "signature", "demos", "config", "lm", "new_signature", "_trace")
"""Argument names of `dspy.Predict`, which inputs cannot have."""


def dspy_source(source: Source) -> Exported:
    """Export the module. Raises ExportError for adapters, types and values that dspy or its source lacks."""
    view = source.first
    if catalog.dspy_class(view.column.adapter) is None:
        listed = ", ".join(name for name in catalog.NAMES if catalog.dspy_class(name) is not None)
        raise ExportError(f"dspy has no adapter {view.column.adapter!r}; choose a column of {listed}", "--adapter")
    fields = view.signature.input_fields
    if wrong := next((name for name in fields if name in DSPYS_WORDS), None):
        raise ExportError(f"dspy.Predict uses the name {wrong!r} itself; rename the field")
    _ = view.request  # what cannot be rendered here cannot be rendered there
    left = [*beside(view)]
    signature, is_thinking = predictor_of(view)
    if unknown := [name for name in view.case.inputs if name not in fields]:
        left.append(f"inputs of no field: {', '.join(unknown)}")
    # The case's inputs and history, without defaults: dspy fills them in.
    named = [*view.case.inputs, *([view.signature.history_field] if view.case.turns else [])]
    rendered = rendering.inputs_of(view.signature, view.case)
    inputs_given: dict[str, Any] = {name: rendered[name] for name in rendered if name in fields and name in named}
    if view.session.offered_tools:
        signature, _ = add_tool_fields(signature)
        inputs_given = set_tool_input(signature, inputs_given, described_tools(view.session))
        left.append("functions for the tools, which a session only describes, and the turns in which they are called")
    # The user's name for the signature, which dspy's signature methods lose; no message contains it.
    text = view.session.signature
    name = notation.read(text.text, text.class_name).name
    signature = replace(signature, name=name if is_name(name) else signature.name)
    try:
        made = in_source(signature)
    except SignatureError as error:
        raise ExportError(f"the signature cannot be written as source: {error}") from error
    if made.instructions is None:
        head = made.text
    else:
        said = literal(made.instructions, "    ")
        head = f"{made.text}\n\n{signature.name} = {signature.name}.with_instructions({said})\n"
    left += _shown_otherwise(view, signature, head)
    for name, field in signature.fields.items():
        notes = notes_of(field.annotation, field.metadata)
        left += [f"field {name}: {note}, and is not written" for note in notes]
    others = {key for demo in view.session.demos for key in demo.extra.get(KEPT, {}) if demo.enabled}
    if others:
        left.append(f"keys of demos that are not fields: {', '.join(sorted(others))}")
    values = ValueSource()
    demos = [values.write(dict(demo), "    ") for demo in rendering.demos_of(view.varied)]
    inputs = values.write(inputs_given)
    adapter = _adapter(view)
    model = _model(view, source, left)
    predict, name_of_adapter, name_of_inputs, run, lm = (
        _free(name, head) for name in ("predict", "adapter", "inputs", "run", "lm")
    )
    imports, _, classes = head.partition("\n\n\n")
    wanted = {*imports.split("\n"), *(f"import {name}" for name in values.needs), _dspy_name(view.column.adapter)[1]}
    wanted.discard("")
    if "os." in adapter + model:
        wanted.add("import os")
    sections = [
        f"# {comment(f'{source.name}: {view.place}')}. Made for dspy {DSPY}.",
        "\n".join(sorted(wanted, key=lambda line: (line.startswith("from "), line))),
        "",
        classes.rstrip(),
        "",
    ]
    for tool in sorted(values.tools):
        sections += [TOOL_STUB.format(name=tool, doc='""  ' if tool == NOT_DESCRIBED else ""), ""]
    # dspy's type check of inputs raises for TypedDicts
    parts = (part for field in signature.input_fields.values() for part in walk(field.annotation))
    unchecked = ", warn_on_type_mismatch=False" if any(map(typing_extensions.is_typeddict, parts)) else ""
    decisions = view.session.signature.decisions
    module, its_predictor = ("dspy.ChainOfThought", ".predict") if is_thinking else ("dspy.Predict", "")
    shown = "[" + "".join(f"\n    {one}," for one in demos) + "\n]" if demos else "[]"
    sections += [
        f"{predict} = {module}({signature.name})\n"
        f"{predict}{its_predictor}.demos = {shown}\n"
        + (f"{predict}{its_predictor}.fields = {values.write(dict(decisions))}\n" if decisions else "")
        + f"{name_of_adapter} = {adapter}\n"
        f"{name_of_inputs} = {inputs}",
        "",
        f"def {run}({lm}):\n"
        f"    with dspy.context(lm={lm}, adapter={name_of_adapter}{unchecked}):\n"
        f"        return {predict}(**{name_of_inputs})",
        "",
        f'if __name__ == "__main__":\n    print({run}({model}))',
    ]
    return Exported("\n\n".join(sections).replace("\n\n\n\n", "\n\n\n") + "\n", tuple(left))


def predictor_of(view: View) -> tuple[Signature, bool]:
    """Return the signature for dspy's predictor, and whether that is ChainOfThought.

    ChainOfThought adds the reasoning itself. If a variant rewords the reasoning, the result is a Predict with the whole
    signature.
    """
    whole = view.signature
    text = view.session.signature
    if text.predictor != "ChainOfThought":
        return whole, False
    plain = replace(view.session, signature=replace(text, predictor="Predict"))
    bare = variants.session_of(plain, view.column).signature.read()
    return (bare, True) if _words(bare.chain_of_thought()) == _words(whole) else (whole, False)


def _words(signature: Signature) -> list[tuple[str, ...]]:
    fields = [(name, one.description, one.shown_prefix) for name, one in signature.fields.items()]
    return [(signature.instructions,), *fields]


def _shown_otherwise(view: View, signature: Signature, source: str) -> list[str]:
    """Return a phrase if the written classes change the prompt.

    The order of classes can matter: dspy's BAMLAdapter shows a class defined after its use as a `ForwardRef`.
    """
    try:
        written = notation.read(source, signature.name)
    except SignatureError:  # cannot be compared
        return []
    inputs = rendering.inputs_of(view.signature, view.case)
    ours, theirs = [view.adapter.render(one, (), inputs).as_dicts() for one in (signature, written)]
    return [] if ours == theirs else [OTHER_ORDER]


def _adapter(view: View) -> str:
    column = view.column
    profile = catalog.profile(column.adapter)
    options = {name: value for name, value in column.options.items() if name != EXTRACTION_OPTION}
    if profile.can_fall_back and not (view.session.fallback and options.pop(FALLBACK_OPTION, True)):
        options[FALLBACK_OPTION] = False
    arguments = [f"{name}={literal(as_json(value))}" for name, value in options.items()]
    if profile.has_second_model:
        second = str(column.options.get(EXTRACTION_OPTION) or view.model)
        arguments.insert(0, f"dspy.LM({_model_name(second)})")
    return f"{_dspy_name(column.adapter)[0]}({', '.join(arguments)})"


def _dspy_name(adapter: str) -> tuple[str, str]:
    """Return the expression for dspy's adapter class, and its import besides `import dspy`."""
    module, name = catalog.dspy_class(adapter) or ("", "")
    return (name, f"from {module} import {name}") if name in NOT_AT_THE_TOP else (f"dspy.{name}", "")


def _model_name(model: str) -> str:
    return 'os.environ["MODEL"]' if model.startswith(OFFLINE) else text_literal(model)


def _model(view: View, source: Source, left: list[str]) -> str:
    if view.model.startswith(OFFLINE):
        left.append(f"the model {view.model}, which only the workbench has: set the variable MODEL to another")
    given = view.session.params_of(view.column)
    arguments = {name: value for name, value in given.items() if name not in NOT_OF_DSPYS_LM}
    if given.get("capabilities"):
        left.append("the model's `capabilities`: dspy has its own tables")
    allowed, said = key_goes_there(view, source)
    if not allowed:
        arguments["api_key"] = NO_KEY
        left += said
    written = [f"{name}={literal(as_json(value), '    ')}" for name, value in arguments.items()]
    headers, said = headers_of(view, source)
    left += said
    if headers:
        written.append(f"extra_headers={headers_literal(headers)}")
    return f"dspy.LM({', '.join([_model_name(view.model), *written])})"


def _free(name: str, source: str) -> str:
    while re.search(rf"\b{name}\b", source):
        name += "_"
    return name
