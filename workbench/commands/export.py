"""`workbench export`: a session's request in the form of another tool."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from adapters.request import Request
from workbench import arguments, exit_codes, json_shapes, output, requests, selection
from workbench.exit_codes import CommandError

DESCRIPTION = """\
Writes the request of one column: its messages as JSON, or a curl command that
sends it. A key is never written: the command names the environment variable
that holds it."""
EXAMPLES = """\
  workbench export q.json --adapter chat                    messages as JSON
  workbench export q.json --to curl --model openai/gpt-4o-mini > ask.sh && sh ask.sh
  workbench export q.json --adapter json --to messages -o messages.json"""

COMPATIBLE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("${OPENAI_API_BASE:-https://api.openai.com/v1}", "OPENAI_API_KEY"),
        "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        "gemini": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        "ollama_chat": ("${OLLAMA_API_BASE:-http://localhost:11434}/v1", ""),
        "hosted_vllm": ("${HOSTED_VLLM_API_BASE:-http://localhost:8000/v1}", ""),
    }
)
"""Providers that speak OpenAI's chat completions: where, and the variable that holds the key."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_session(parser)
    arguments.add_columns(parser)
    arguments.add_model(parser)
    parser.add_argument("--to", choices=("messages", "curl"), default="messages", help="default: messages")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    arguments.settle_session(options)
    chosen = selection.select(options.session, options.adapters, options.case, options.model)
    column = chosen.columns[0]
    if len(chosen.columns) > 1:
        output.message(f"column {column.id}; choose another with --adapter")
    request = requests.require(chosen, column)
    text = curl(request) if options.to == "curl" else json_shapes.dumps([one.as_dict() for one in request.messages])
    if options.json:
        text = json_shapes.dumps({"column": column.id, "to": options.to, "text": text})
    if options.output is None:
        output.text(text)
        return exit_codes.OK
    try:
        Path(options.output).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{options.output}: {error.strerror or error}") from error
    return exit_codes.OK


def curl(request: Request) -> str:
    """A shell command that sends the request. Raises `CommandError` for a provider that speaks another protocol."""
    provider, slash, name = (request.model or "").partition("/")
    if not slash:
        provider, name = "openai", provider
    if provider not in COMPATIBLE:
        raise CommandError(
            f"{request.model} cannot be asked by curl; choose a model with --model, of: {', '.join(COMPATIBLE)}"
        )
    base, key = COMPATIBLE[provider]
    body = json_shapes.dumps({**request.as_dict(), "model": name})
    lines = [f'curl "{base}/chat/completions"', '-H "Content-Type: application/json"']
    if key:
        lines.append(f'-H "Authorization: Bearer ${key}"')
    lines.append(f"--data-binary {shlex.quote(body)}")
    return " \\\n  ".join(lines)
