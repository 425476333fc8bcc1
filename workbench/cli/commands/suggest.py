"""`workbench suggest`: ask a model to rewrite a text; `--take` saves a variant.

Ask a model to rewrite SESSION's instructions or the description of a field. The
model gets the signature and the replies that did not parse or did not meet
their expectations. Print the rewrite as a diff; --take saves it as a variant.

--bench shows the model the misses of `workbench bench`, by cause, from half of
the cases; saves the variant; benches it beside the original; and reports
whether the other half gained, too.

examples:
  workbench suggest q.session.json --model openai/gpt-6-sol
  workbench suggest q.session.json --of fields.score.desc --wish "say what 0 and 1 mean"
  workbench suggest q.session.json --bench --jobs 4          learn from the bench, and bench the rewrite at once
  workbench suggest q.session.json --take --tag stricter    then: workbench send q.session.json --variant stricter
"""

from __future__ import annotations

import shlex
from typing import Any

from adapters.display.blocks import Note
from adapters.lm.secrets import Scrubber
from sessions.bench import conclusions, reading
from sessions.bench.grid import Grid, Place, half, latest
from sessions.errors import counted
from sessions.file import store
from sessions.imports.merging import unused
from sessions.model import variants
from sessions.model.session import Session
from workbench.bench import report
from workbench.cli import arguments, selection
from workbench.cli.commands import bench, parser_of
from workbench.output import console, exit_codes, json_shapes, measures
from workbench.output.exit_codes import CommandError
from workbench.sending import suggesting


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session", "model")
    parser.option(
        "--of", "TEXT", "the text to rewrite: instructions (default) or fields.NAME.desc", default=variants.INSTRUCTIONS
    )
    parser.option("--wish", "WISH", "describe what the rewrite should achieve", default="")
    parser.flag("--take", "save the rewrite to SESSION as a variant")
    parser.option("--tag", "TAG", "the variant's tag (default: suggested, suggested-2, …)")
    parser.flag(
        "--bench", "learn from the misses of half of the benched cases, save the variant and bench it on all of them"
    )
    about = "with --bench, start no run that could push its total above USD"
    parser.option("--max-cost", "USD", about, type=bench.dollars)
    parser.option("--repeat", "N", "runs of each case with --bench", type=arguments.count, default=1)
    parser.option("--jobs", "N", "runs at once with --bench", type=arguments.count, default=1)
    parser.shared("allow_host", "allow_variable")


def run(options: arguments.Options) -> int:
    if not options.bench:
        of_bench = {
            "--max-cost": options.max_cost is not None,
            "--repeat": options.repeat > 1,
            "--jobs": options.jobs > 1,
        }
        arguments.refuse(of_bench, "goes with --bench")
        if options.tag is not None and not options.take:
            raise CommandError("--tag names the variant that --take or --bench saves")
    session = store.load(options.session)
    tag = options.tag or unused(suggesting.TAG, variants.tags(session), "{}-{}")
    model = options.model or session.model
    try:
        variants.check_tag(tag)
        options.take = options.take or options.bench
        if options.take and any((one.tag, one.of) == (tag, options.of) for one in session.variants):
            raise CommandError(f"{tag} has a text for {options.of} already; choose another --tag")
        suggesting.text_of(session, options.of)  # an error for a text that is not there
        grid, shown = _benched(options.session, session) if options.bench else (None, frozenset())
        failures = suggesting.failing(session) if grid is None else suggesting.failing_in(session, grid, shown)
        count = counted(len(failures), "reply that", "replies that") + " went wrong"
        console.message(f"asking {model}, with {count}")
        made = suggesting.ask(
            session,
            options.of,
            model,
            options.wish,
            failures=None if grid is None else failures,
            allowed=arguments.allowed(options),
        )
    except suggesting.SuggestionError as error:
        failed = CommandError(f"no suggestion: {Scrubber().scrubbed(str(error))}", exit_codes.PROVIDER)
        raise failed from error
    if options.take:
        selection.save(session, variants.apply_variant(session, tag, options.of, made.text), options.session)
    if not options.json:
        console.diff_lines(made.lines)
        console.message(measures.line(made.run.attempts[-1]))
        tried = f"saved as variant {tag}; try it: `workbench send {shlex.quote(options.session)} --variant {tag}`"
        console.message(tried if options.take else "nothing was written; --take saves it as a variant")
    benched, codes = (None, [exit_codes.OK]) if grid is None else _bench(options, tag, grid)
    gains = () if benched is None else conclusions.gains(benched, tag, shown)
    if options.json:
        said = {"of": made.of, "before": made.before, "text": made.text, "lines": list(made.lines)}
        kept = {"tag": tag if options.take else None, "taken": options.take, "failures": len(failures)}
        shape: dict[str, Any] = {**said, **kept, "run": json_shapes.run(made.run)}
        if benched is not None:
            shape |= {"verdict": conclusions.Conclusions(benched).verdict.line, "gains": []}
        for gain in gains:
            of_half: dict[str, Any] = {"column": gain.column, "words": gain.words}
            for name, by in (("shown", gain.shown), ("withheld", gain.withheld)):
                of_half[name] = {"difference": by.mean, "p": by.p_adjusted, "cases": len(by.first)}
            shape["gains"].append(of_half)
        console.json({"suggestion": shape})
    elif benched is not None:
        console.blocks([Note(conclusions.Conclusions(benched).verdict.line, "strong"), report.column_table(benched)])
        for gain in gains:
            console.text(gain.words)
    return exit_codes.worst(codes)


def _benched(path: str, session: Session) -> tuple[Grid, frozenset[Place]]:
    """Read the bench of a session, and choose the half to show the model. Raises `CommandError` without a bench."""
    found = reading.read(path)
    cases, columns = [one.name for one in session.cases], [one.id for one in session.columns]
    own = [one for one in latest(found, cases, columns).cells if one.case in cases and one.column in columns]
    if not any(one.many for one in own):
        first = f"run `workbench bench {shlex.quote(path)}` first"
        raise CommandError(f"--bench learns from a bench: {first}", exit_codes.NOTHING)
    grid = Grid(tuple(own))
    return grid, half(grid)


def _bench(options: arguments.Options, tag: str, before: Grid) -> tuple[Grid, list[int]]:
    """Bench the columns of the earlier bench with and without the variant; return the grid and exit codes."""
    hosts = [word for host in options.allow_hosts for word in ("--allow-host", host)]
    variables = [word for name in options.allow_variables for word in ("--allow-variable", name)]
    words = [options.session, "--variant", tag, "--repeat", str(options.repeat), "--jobs", str(options.jobs)]
    words += ["--adapter", *[one.column for one in before.columns]]
    words += [] if options.max_cost is None else ["--max-cost", str(options.max_cost)]
    asked = parser_of("bench").parse_args([*words, *hosts, *variables])
    return bench.benched(bench.planned_by(asked)[0], asked, ())
