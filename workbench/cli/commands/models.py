"""`workbench models`: list the models to choose from.

List the offline models, which need no API key or network; your own servers; and
the models that litellm calls, with the API key variable of each and whether it
is set. The key itself is never shown. Words search the whole list; without any,
one model of each well-known provider is shown.

examples:
  workbench models
  workbench models claude sonnet
  workbench models --capabilities openai/gpt-6-luna --json
  workbench models --ask-servers                    also list the models of your own servers
  workbench send q.session.json --model offline/sloppy
  HOSTED_VLLM_API_BASE=http://localhost:8000/v1 workbench send q.session.json --model hosted_vllm/my-model
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adapters.late_dataclasses import asdict
from adapters.lm import ProviderError, dotenv, fetched_table, litellm_answers, model_list, servers
from adapters.lm.capabilities import Known, ask_about, known_of
from adapters.lm.model_list import ModelEntry, retirement_of
from adapters.lm.secrets import Scrubber
from workbench.cli.arguments import Options, Parser
from workbench.output import console, exit_codes
from workbench.sending import model_choices

MOST_SHOWN = 40


def add_arguments(parser: Parser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="show models that match these words")
    parser.flag("--ask-servers", "ask your own servers for their models and capabilities")
    parser.flag("--refresh", "fetch litellm's table of models and use it from now on")
    parser.option("--capabilities", "NAME", "show what these models can do", nargs="+")


def run(options: Options) -> int:
    dotenv.read(Path.cwd()).lend_keys()
    if options.refresh:
        try:
            made, is_used = litellm_answers.refresh(), fetched_table.in_use() is not None
            fetched, own = fetched_table.models_in(made.read()), fetched_table.models_in(fetched_table.packaged())
            counts = f"{len(fetched):,} models, {len(fetched - own):,} of them new; {len(own - fetched):,} are gone"
            unused = "" if is_used else "; not in use: fetched_models = false"
            console.message(f"kept {made}: {counts}{unused}")
        except ProviderError as error:
            code = exit_codes.PROVIDER if error.kind == "network" else exit_codes.USAGE
            raise exit_codes.CommandError(str(error), code) from error
        if options.capabilities is None and not options.words and not options.json:
            return exit_codes.OK
    if options.capabilities is not None:
        if options.words:
            raise exit_codes.CommandError("--capabilities takes exact names; leave out the words to search")
        if options.ask_servers:
            raise exit_codes.CommandError("--ask-servers goes with the list of models; leave out --capabilities")
        ask_about(options.capabilities)
        known = {name: known_of(name) for name in dict.fromkeys(options.capabilities)}
        said = "\n".join([f"{name}  {model_choices.can(one)}" for name, one in known.items()])
        console.result(options.json, {name: _capabilities(one) for name, one in known.items()}, said)
        return exit_codes.OK
    offline, local, provided = _found(" ".join(options.words), options.ask_servers)
    if options.json or options.words:
        ask_about([one.name for one in (provided if options.json else provided[:MOST_SHOWN])])
    if options.json:
        models = [
            {"model": one.name, "description": one.description, "key": None, "key_is_set": None} for one in offline
        ]
        models += [*local, *map(_provided, provided)]
        console.json({"models": models, "table": litellm_answers.table_name()})
        return exit_codes.OK if offline or local or provided else exit_codes.NOTHING
    if offline:
        console.heading("no API key, no network", "blue")
        for one in offline:
            console.text(f"  {one.name:<30}{one.description}")
    if local:
        console.heading("\nyour own servers", "blue")
        width = max(28, *[len(row["model"]) for row in local])
        for row in local:
            console.text(f"  {row['model']:<{width}}  {row['description']}")
    if provided:
        console.heading("\nthrough litellm" + ("" if options.words else ", for example"), "blue")
        rows = [
            (one.name, model_choices.key_of(one.provider).remark, model_choices.facts(one))
            for one in provided[:MOST_SHOWN]
        ]
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        for name, remark, facts in rows:
            console.text(f"  {name:<{widths[0]}}  {remark:<{widths[1]}}  {facts}".rstrip())
            if options.words:
                console.text(f"      {model_choices.can(known_of(name))}")
    if not (offline or local or provided):
        console.message(f"no model matches {' '.join(options.words)!r}; any name that litellm knows works anyway")
        return exit_codes.NOTHING
    if len(provided) > MOST_SHOWN:
        console.message(f"{len(provided) - MOST_SHOWN} more; give more words, or --json for all")
    used = "" if (table := fetched_table.in_use()) is None else f"by {table}; "
    console.message(f"{used}any other model of litellm works by its usual name, provider/model")
    return exit_codes.OK


def _capabilities(known: Known) -> dict[str, Any]:
    return {**known.capabilities.as_json(), "said_by": known.said_by}


def _found(query: str, ask: bool) -> tuple[tuple[ModelEntry, ...], list[dict[str, Any]], tuple[ModelEntry, ...]]:
    """Find offline models, rows of the user's servers, and litellm's models."""
    rows: list[dict[str, Any]] = []
    for server in servers.known():
        names = servers.models_at(server) if ask else ()
        where = f"{server.place} ({server.source})"
        answer = ""
        if ask and not names:
            answer = "; does not answer" if names is None else "; has no model"
        for name in names or (f"{server.provider}/…",):
            says = servers.asked(server, name) if names else None
            remark = f"; {says.words()}" if says is not None else ""
            rows.append(
                {"model": name, "description": where + answer + remark, "key": None, "key_is_set": None}
                | {"api_base": Scrubber().scrubbed(server.address), "says": None if says is None else asdict(says)}
            )
    texts = [f"{row['model']} {row['description']}".lower() for row in rows]
    words = query.lower().split()
    local = [row for row, text in zip(rows, texts, strict=True) if all(word in text for word in words)]
    offline = model_list.search(model_list.offline_models(), query) if query else model_list.offline_models()
    listed = model_list.litellm_models()
    if query:
        return offline, local, model_list.search(listed, query)
    by_name = {one.name: one for one in listed}
    examples = tuple(
        by_name.get(name) or ModelEntry(name, name.partition("/")[0]) for name in model_choices.EXAMPLE_MODELS
    )
    return offline, local, examples


def _provided(entry: ModelEntry) -> dict[str, Any]:
    key, known, retirement = model_choices.key_of(entry.provider), known_of(entry.name), retirement_of(entry.name)
    return {
        "model": entry.name,
        "description": "through litellm",
        "key": key.variable,
        "key_is_set": key.is_set,
        "context_tokens": entry.context_tokens,
        "input_price": entry.input_price,
        "output_price": entry.output_price,
        "retires": None if retirement is None else retirement.day.isoformat(),
        "can": {name: value for name, value in _capabilities(known).items() if name != "params"},
    }
