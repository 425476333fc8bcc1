"""Make the inner signatures of dspy 3.4.1's `ReAct`, `ProgramOfThought`, `CodeAct` and `Refine`.

Rule: the `__init__` of each, and `dspy.predict.refine.OfferFeedback`. These modules derive the signatures of their
prompts from the user's signature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.signature import Field, InputField, OutputField, Signature

Module = Literal["react", "program-of-thought", "code-act", "refine"]
MODULES: Mapping[str, Module] = MappingProxyType(
    {"ReAct": "react", "CodeAct": "code-act", "ProgramOfThought": "program-of-thought", "Refine": "refine"}
)
"""Modules by the name of their class in dspy."""
TRAJECTORY = "trajectory"
"""The input that contains an agent's earlier steps; empty at the first step."""
NO_STEPS = "{}"
"""The trajectory of a CodeAct's first step: dspy passes all steps as a dict to it, while others get them as text."""
FINISH = "finish"
"""The tool that ends a ReAct."""


@dataclass(frozen=True)
class InnerSignature:
    """A signature that a module calls, without the `reasoning` that `dspy.ChainOfThought` adds."""

    name: str
    signature: Signature
    is_chain_of_thought: bool


def tool_text(name: str, description: str, args: Mapping[str, Any]) -> str:
    """Describe a tool as `str(dspy.Tool)` does; `args` maps argument names to JSON schemas."""
    described = f", whose description is <desc>{description}</desc>.".replace("\n", "  ") if description else "."
    return f"{name}{described} It takes arguments {dict(args)}."


def inner_signatures(module: Module, signature: Signature, tools: Mapping[str, str]) -> tuple[InnerSignature, ...]:
    """Make the signatures that a module calls, in order; `tools` maps names to texts of `tool_text`."""
    if module in ("react", "code-act"):
        is_react = module == "react"
        step = _react(signature, tools) if is_react else _code_act(signature, tools)
        extract = Signature.make(signature.fields.values(), signature.instructions)
        return (
            InnerSignature("react" if is_react else "codeact", step, False),
            InnerSignature("extract" if is_react else "extractor", extract.append(TRAJECTORY, InputField(), str), True),
        )
    if module == "refine":
        hint = InputField(desc="A hint to the module from an earlier run")
        return (
            InnerSignature("hinted", signature.append("hint_", hint, str), False),
            InnerSignature("feedback", _FEEDBACK, False),
        )
    return (
        InnerSignature("code_generate", _generate(signature), True),
        InnerSignature("code_regenerate", _regenerate(signature), True),
        InnerSignature("generate_output", _answer(signature), True),
    )


STEP = (
    *(Field(name, "input", str) for name in ("thought", "tool_name")),
    Field("tool_args", "input", dict[str, Any]),
    Field("observation", "input", str),
)
"""Fields of a ReAct's step."""
CODE_STEP = tuple(Field(name, "input", str) for name in ("generated_code", "code_output", "observation"))
"""Fields of a CodeAct's step; the observation is an error and replaces the output."""


def takes_steps(signature: Signature) -> bool:
    """Return whether a signature has a text input for an agent's trajectory, and no history."""
    field = signature.input_fields.get(TRAJECTORY)
    return field is not None and field.annotation is str and signature.history_field is None


def parsed_code(reply: str) -> tuple[str, str]:
    """Return the code that a CodeAct runs for the value of `generated_code`, and why it runs none, or "".

    Rule: `dspy.ProgramOfThought._parse_code`.
    """
    code = reply.split("---", 1)[0].split("\n\n\n", 1)[0]
    fenced = re.search(r"```python[ \n](.*?)[ \n]```?", code, re.DOTALL)
    block = fenced[1] if fenced else code
    if not block:
        return code, "Error: Empty code after parsing."
    if "\n" not in block and block.count("=") > 1:
        return code, "Error: Code format is not correct."
    assigned = re.match(r"^(\w+)\s*=", block.split("\n")[-1].strip())
    return (f"{block}\n{assigned[1]}" if assigned else block), ""


def inner_signature(predictor: str, signature: Signature, tools: Mapping[str, str]) -> Signature:
    """Make the inner signature of a session's `predictor`, with the `reasoning` of a chain of thought."""
    module, _, name = predictor.partition(".")
    made = next(one for one in inner_signatures(MODULES[module], signature, tools) if one.name == name)
    whole = made.signature.chain_of_thought() if made.is_chain_of_thought else made.signature
    none = NO_STEPS if predictor == "CodeAct.codeact" else ""
    first = [replace(one, default=none) if one.name == TRAJECTORY else one for one in whole.fields.values()]
    return Signature.make(first, whole.instructions, signature.name)


def _listed(fields: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in fields)


def tools_with_finish(signature: Signature, tools: Mapping[str, str]) -> dict[str, str]:
    """Add the `finish` tool of a ReAct, which replaces a tool of the same name."""
    described = (
        "Marks the task as complete. That is, signals that all information for producing the outputs, i.e. "
        f"{_listed(signature.output_fields)}, are now available to be extracted."
    )
    return {**tools, FINISH: tool_text(FINISH, described, {})}


def react_instructions(signature: Signature, tools: Mapping[str, str]) -> str:
    """Write the instructions of `dspy.ReAct(signature, tools).react`."""
    offered = tools_with_finish(signature, tools)
    inputs, outputs = _listed(signature.input_fields), _listed(signature.output_fields)
    instructions = [f"{signature.instructions}\n"] if signature.instructions else []
    instructions += [
        f"You are an Agent. In each episode, you will be given the fields {inputs} as input. And you can see your past "
        "trajectory so far.",
        "Your goal is to use one or more of the supplied tools to collect any necessary information for producing "
        f"{outputs}.\n",
        "To do this, you will interleave next_thought, next_tool_name, and next_tool_args in each turn, and also when "
        "finishing the task.",
        "After each tool call, you receive a resulting observation, which gets appended to your trajectory.\n",
        "When writing next_thought, you may reason about the current situation and plan for future steps.",
        "When selecting the next_tool_name and its next_tool_args, the tool must be one of:\n",
        *[f"({number}) {tool}" for number, tool in enumerate(offered.values(), 1)],
        "When providing `next_tool_args`, the value inside the field must be in JSON format",
    ]
    return "\n".join(instructions)


def _react(signature: Signature, tools: Mapping[str, str]) -> Signature:
    return (
        Signature.make(signature.input_fields.values(), react_instructions(signature, tools))
        .append(TRAJECTORY, InputField(), str)
        .append("next_thought", OutputField(), str)
        .append("next_tool_name", OutputField(), Literal[tuple(tools_with_finish(signature, tools))])
        .append("next_tool_args", OutputField(), dict[str, Any])
    )


def _code_act(signature: Signature, tools: Mapping[str, str]) -> Signature:
    inputs, outputs = _listed(signature.input_fields), _listed(signature.output_fields)
    instructions = [f"{signature.instructions}\n"] if signature.instructions else []
    instructions += [
        f"You are an intelligent agent. For each episode, you will receive the fields {inputs} as input.",
        "Your goal is to generate executable Python code that collects any necessary information for producing "
        f"{outputs}.",
        "For each iteration, you will generate a code snippet that either solves the task or progresses towards the "
        "solution.",
        "Ensure any output you wish to extract from the code is printed to the console. The code should be enclosed in "
        "a fenced code block.",
        f"When all information for producing the outputs ({outputs}) are available to be extracted, mark "
        "`finished=True` besides the final Python code.",
        "You have access to the Python Standard Library and the following functions:",
        *[f"({number}) {tool}" for number, tool in enumerate(tools.values(), 1)],
    ]
    code = "Python code that when executed, produces output relevant to answering the question"
    return (
        Signature.make(signature.input_fields.values(), "\n".join(instructions))
        .append(TRAJECTORY, InputField(), str)
        .append("generated_code", OutputField(desc=code), str)
        .append("finished", OutputField(desc="a boolean flag to determine if the process is done"), bool)
    )


def _code(role: Literal["input", "output"], name: str, described: str) -> Field:
    return Field(name, role, str, desc=described)


_GENERATED = _code("output", "generated_code", "python code that answers the question")


def _generate(signature: Signature) -> Signature:
    made = Signature.make([*signature.input_fields.values(), _GENERATED])
    inputs, outputs = _listed(made.input_fields), _listed(made.output_fields)
    instructions = (
        f"You will be given {inputs} and you will respond with {outputs}.\n"
        f"Generating executable Python code that programmatically computes the correct {outputs}.\n"
        "After you're done with the computation and think you have the final output, make sure to submit your output "
        "by calling the preloaded function `SUBMIT()`.\n"
        'You must structure your output in a dict, like {"field_a": value_a, ...}, with the correct value mapping for '
        f"the field(s): {_listed(signature.output_fields)}."
    )
    return made.with_instructions(instructions)


def _regenerate(signature: Signature) -> Signature:
    previous = _code("input", "previous_code", "previously-generated python code that errored")
    error = _code("input", "error", "error message from previously-generated python code")
    made = Signature.make([*signature.input_fields.values(), previous, error, _GENERATED])
    return made.with_instructions(
        f"You are given {_listed(made.input_fields)} due to an error in previous code.\n"
        "Your task is to correct the error and provide the new `generated_code`."
    )


def _answer(signature: Signature) -> Signature:
    final = _code("input", "final_generated_code", "python code that answers the question")
    output = _code("input", "code_output", "output of previously-generated python code")
    made = Signature.make([*signature.input_fields.values(), final, output, *signature.output_fields.values()])
    return made.with_instructions(
        f"Given the final code {_listed(made.input_fields)}, provide the final {_listed(made.output_fields)}."
    )


_FEEDBACK = Signature.make(
    [
        _code("input", "program_code", "The code of the program that we are analyzing"),
        _code("input", "modules_defn", "The definition of each module in the program, including its I/O"),
        _code("input", "program_inputs", "The inputs to the program that we are analyzing"),
        _code("input", "program_trajectory", "The trajectory of the program's execution, showing each module's I/O"),
        _code("input", "program_outputs", "The outputs of the program that we are analyzing"),
        _code("input", "reward_code", "The code of the reward function that we are analyzing"),
        Field("target_threshold", "input", float, desc="The target threshold for the reward function"),
        Field("reward_value", "input", float, desc="The reward value assigned to the program's outputs"),
        Field(
            "module_names",
            "input",
            list[str],
            desc="The names of the modules in the program, for which we seek advice",
        ),
        _code("output", "discussion", "Discussing blame of where each module went wrong, if it did"),
        Field(
            "advice",
            "output",
            dict[str, str],
            desc="For each module, describe very concretely, in this order: the specific scenarios in which it has "
            "made mistakes in the past and what each mistake was, followed by what it should do differently in that "
            "kind ofscenario in the future. If the module is not to blame, write N/A.",
        ),
    ],
    "In the discussion, assign blame to each module that contributed to the final reward being below the threshold, "
    "if\nany. Then, prescribe concrete advice of how the module should act on its future input when we retry the "
    "process, if\nit were to receive the same or similar inputs. If a module is not to blame, the advice should be "
    "N/A.\nThe module will not see its own history, so it needs to rely on entirely concrete and actionable advice "
    "from you\nto avoid the same mistake on the same or similar inputs.",
)
"""The signature that asks for `dspy.Refine`'s advice to each module."""
