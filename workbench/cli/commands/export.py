"""`workbench export`: write a session in the format of another tool.

Write a session in the format of another tool, --as one of
  FORMATS
Standard error lists what is left out. API keys are never written: an export
names the environment variable instead.

examples:
  workbench export q.session.json --adapter chat                    messages as JSON
  workbench export q.session.json --as dspy --adapter json -o program.py
  workbench export q.session.json --as curl --model openai/gpt-6-luna > ask.sh && sh ask.sh
  workbench export q.session.json --as promptfoo -o promptfooconfig.yaml
  workbench export q.session.json --as lesson -o lesson.html          opens from disk, with nothing else
"""

from __future__ import annotations

from pathlib import Path

from workbench.cli import arguments, selection
from workbench.exporting import forms
from workbench.output import console, exit_codes, json_shapes

__doc__ = (__doc__ or "").replace(
    "  FORMATS\n", "".join(f"  {one.name:<10} {one.about}\n" for one in forms.FORMS.values())
)


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser, "the first; all for finetune, batch, promptfoo, page and lesson")
    parser.shared("model")
    parser.option(
        "--as --to",
        "NAME",
        "one of the above (default: messages)",
        dest="form",
        choices=tuple(forms.FORMS),
        default="messages",
    )
    parser.shared("allow_host")
    parser.option("-o --output", "FILE", "write to FILE instead of standard output")


def run(options: arguments.Options) -> int:
    form = forms.FORMS[options.form]
    to_file = options.output not in (None, "-")
    every_case = form.wants_every_case and options.case is None
    chosen = selection.select(options.session, options.adapters, options.case, options.model, every_case=True)
    if options.adapters and len(chosen.columns) > 1 and not form.wants_every_column:
        raise exit_codes.CommandError(f"--as {form.name} writes one column; --adapter names {len(chosen.columns)}")
    cases = chosen.session.cases if every_case else (chosen.case,)
    name = chosen.session.name or Path(options.session).name
    code, hosts = chosen.allow_code, options.allow_hosts
    made = forms.export(form.name, chosen.session, chosen.columns, cases, name=name, code=code, allow_hosts=hosts)
    text = made.text
    if options.json:
        shape = {"column": chosen.columns[0].id, "to": form.name, "text": text}
        text = json_shapes.dumps({**shape, "left_out": list(made.left_out), "notes": list(made.notes)}) + "\n"
    if to_file:
        arguments.write_output(options.output, text)
    if not every_case:
        selection.report_first_case(chosen.session, options.case)
    if len(chosen.columns) > 1 and not form.wants_every_column:
        console.message(f"column {chosen.columns[0].id}; choose another with --adapter")
    for one in (*(f"left out: {one}" for one in made.left_out), *made.notes):
        console.message(one)
    if not to_file:
        console.text(text, end="")
    return exit_codes.OK
