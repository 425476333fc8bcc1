"""A Python script that sends one request by litellm and prints the reply."""

from __future__ import annotations

from sessions.exports.endpoints import OFFLINE, key_goes_there, key_variable, named_address
from sessions.exports.exported import Exported, Source, beside
from sessions.exports.python_source import comment, literal, quoted
from sessions.model.recording import as_json
from sessions.running import rendering

NO_KEY = "no-key"
"""Given to a host that must get no key: litellm would take one from the environment where none is given."""


def litellm_script(source: Source) -> Exported:
    """litellm takes the key from the environment; an address that the session names gets none unless allowed."""
    view = source.first
    request = view.request
    arguments = {**request.params, **rendering.connection_of(view.session, view.column)}
    left = [*beside(view)]
    allowed, said = key_goes_there(view, source)
    if not allowed:
        arguments["api_key"] = NO_KEY
        left += said
    key = key_variable(view.model) if allowed and named_address(view) is None else ""
    imports, model, check = ["import litellm"], quoted(view.model), ""
    if view.model.startswith(OFFLINE):
        imports = ["import os", "", "import litellm"]
        model = 'os.environ["MODEL"]  # for example openai/gpt-6-luna'
        left.append(f"the model {view.model}, which only the workbench has: the variable MODEL names another")
    elif key:
        imports = ["import os", "import sys", "", "import litellm"]
        check = f"if not os.environ.get({quoted(key)}):\n    sys.exit({quoted(f'set {key}')})\n\n"
    body = "".join(f"    {name}={literal(as_json(value), '    ')},\n" for name, value in arguments.items())
    text = (
        f"# {comment(f'{source.name}: {view.place}')}.\n\n" + "\n".join(imports) + f"\n\nMODEL = {model}\n"
        f"MESSAGES = {literal(as_json(request.prompt.as_dicts()))}\n\n{check}"
        f"response = litellm.completion(\n    model=MODEL,\n    messages=MESSAGES,\n{body})\n"
        "for choice in response.choices:\n"
        "    for call in choice.message.tool_calls or ():\n"
        "        print(call.function.name, call.function.arguments)\n"
        '    print(choice.message.content or "")\n'
    )
    return Exported(text, tuple(left))
