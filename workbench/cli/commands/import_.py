"""`workbench import`: convert other tools' files to a session.

Convert SOURCE to a new session, or add it to an existing session. SOURCE is
  a .py file        the signature in it (FILE.py:Class), or lm.history as Python
                    prints it; read, never run
  .csv .jsonl .json demos: a table with a header, or flat objects by field name
  .json             a program that dspy saved; an entry of lm.history; OpenAI
                    messages, which become the history of a case
  any text          an AdapterParseError as a terminal, log or issue shows it;
                    the output of `dspy.inspect_history()`; lm.history as Python
  .json .jsonl      a trace: spans of OpenTelemetry (GenAI, OpenInference),
                    Phoenix, MLflow, Langfuse or LangSmith; each call of a model
                    becomes a case; -o FOLDER/ makes a session per signature
  a run of GEPA or MIPROv2: its log_dir, or its candidates with their scores as
                    .json; they become variants of a session's instructions
If a file lacks types, roles or names, the command proposes them and asks. While
a question is open, nothing is written: answer it with --signature, or accept
the proposals with --accept.

examples:
  workbench import invoice.py:Extract -o invoice.session.json
  workbench import demos.csv --into q.session.json
  workbench import program.json --signature qa.py:Answer -o qa.session.json
  workbench import program.json --predictor cot.predict -o qa.session.json --accept
  workbench import failure.json -o failure.session.json    an entry of lm.history
  pbpaste | workbench import - -o failure.session.json     the text of an error
  workbench import history.txt --call 2 -o q.session.json  a call of inspect_history()
  workbench import spans.jsonl --failed -o failures/       yesterday's failures
  workbench import eval.csv --as cases --into q.json     rows: inputs, and what is expected
  workbench import gepa_logs --into q.session.json       candidates, as variants
  workbench import chat.json --as history --into q.session.json --case long
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from sessions.file import saving, store
from sessions.imports import merging, sources, trace_sessions
from sessions.imports.proposing import COT, REASONING
from sessions.imports.reading import Imported
from sessions.model.session import DEFAULT_COLUMNS, Column, Session, SignatureText
from workbench.cli import arguments, selection
from workbench.cli.commands.new import signature_text
from workbench.config import settings
from workbench.output import console, exit_codes
from workbench.output.exit_codes import CommandError

INSTEAD = "--force overwrites it, --into puts the import into it"
"""The remedies for a file that is there already."""


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("source", metavar="SOURCE", help="the file to import; - for standard input")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("-o", "--output", metavar="FILE", help="the session file to write")
    target.add_argument("--into", metavar="SESSION", help="add it to this session")
    parser.add_argument(
        "--as", dest="kind", choices=sources.KINDS, help="what a .json file is (default: by its content)"
    )
    parser.option("--signature", "SIGNATURE", "names and types: the string notation or FILE.py:Class")
    parser.option("--predictor", "PATH", "which predictor of a saved program or of a trace")
    parser.flag("--cot", "ChainOfThought: `reasoning` in front of the outputs")
    parser.option("--call", "N", "choose a call of a text or history with several", type=int)
    parser.flag("--failed", "of a trace: only the calls that failed")
    parser.option("--model", "M", "of a trace: only the calls of this model")
    parser.several("--mask", "PATTERN", "of a trace: replace what matches with (masked)")
    parser.option("--case", "NAME", "name of the new case")
    parser.flag("--accept", "accept the proposals for what the file lacks")
    parser.flag("--dry-run", "say what would be imported, and write nothing")
    parser.flag("--force", "overwrite FILE if it is there; the app can restore what it was")


def run(options: arguments.Options) -> int:
    if options.output is None and options.into is None and not options.dry_run:
        raise CommandError("where to? Give -o FILE for a new session, or --into SESSION")
    if options.output == "-":
        raise CommandError("-o -: a session is a file; name one, or look first with --dry-run")
    if options.into is not None and options.force:
        raise CommandError("--force overwrites the file of -o, and --into overwrites none: leave out --force")
    selection.refuse_existing([options.output], options.force, INSTEAD)
    target: str | None = options.into or options.output
    try:
        opened = store.open_file(options.into) if options.into else None
        found = _imports(options, opened.session if opened else None)
        waits = any(one.questions for one in found.values()) and not options.accept
        is_written = bool(target) and not waits and not options.dry_run
        targets = [target] * len(found)
        if target is not None and _is_folder(target):
            targets = [str(Path(target) / f"{name or 'imported'}.session.json") for name in found]
            selection.refuse_existing(targets, options.force, INSTEAD)
            if is_written:
                Path(target).mkdir(parents=True, exist_ok=True)
        for path, imported in zip(targets, found.values(), strict=True):
            if path and is_written:
                if opened is None:
                    selection.save_new(imported.session, path, options.force, INSTEAD)
                    continue
                saving.keep_restore_point(path)
                store.save(imported.session, path, over=opened.fingerprint)
            elif path:
                store.dumps(imported.session)
    except (SignatureError, OSError) as error:
        raise CommandError(str(error)) from error
    shapes = [_shape(imported, path, is_written) for path, imported in zip(targets, found.values(), strict=True)]
    if options.json:
        console.json(shapes[0] if len(shapes) == 1 else {"sessions": shapes})
    else:
        for path, imported in zip(targets, found.values(), strict=True):
            for note in imported.notes:
                console.message(f"  {note}")
            for guess in imported.guesses:
                console.message(f"~ guessed: {guess}")
            for question in imported.questions:
                console.message(f"? {question}")
            if path and is_written:
                named = shlex.quote(path)
                console.message(f"{path}: written. Next: `workbench render {named}`, or `workbench {named}`")
                continue
            console.text(imported.session.signature.text)
            if imported.questions and not options.accept:
                waiting = "nothing is written: answer with --signature, or take the proposal with --accept"
                console.message(waiting)
    return exit_codes.USAGE if waits and not options.dry_run else exit_codes.OK


def _imports(options: arguments.Options, into: Session | None) -> dict[str, Imported]:
    """Return imports by name: a session for each signature of a trace, else a single session. Raises `CommandError`."""
    is_trace = options.kind == "trace" or (options.kind is None and trace_sessions.holds_spans(options.source))
    if not is_trace:
        if options.failed or options.model or options.mask:
            raise CommandError(f"--failed, --model and --mask choose calls of a trace, not of {options.source}")
        given = _given(options, into)
        piped = arguments.standard_input("the text to import").removeprefix("\ufeff") if options.source == "-" else None
        imported = sources.load(
            "standard input" if piped is not None else options.source,
            options.kind,
            given,
            predictor=options.predictor,
            case=options.case,
            folder=_folder(options),
            call=options.call,
            text=piped,
        )
        if imported.is_bare_text and options.signature is not None:
            raise CommandError(f"{options.source} is a signature itself; leave out --signature")
        return {"": _fitted(options, imported, into)}
    if options.call is not None:
        raise CommandError(
            "--call chooses a call of a text or history; --failed, --predictor and --model those of a trace"
        )
    try:
        mask = tuple([re.compile(one) for one in options.mask])
    except re.error as error:
        raise CommandError(f"--mask: {error}") from error
    choice = trace_sessions.Choice(options.failed, options.predictor, options.model, mask)
    case = options.case or Path(options.source).name.partition(".")[0]
    found = trace_sessions.from_trace(options.source, choice, _given(options, into), case)
    is_folder = options.output is not None and _is_folder(options.output)
    if len(found) > 1 and not is_folder and not options.dry_run:
        names = ", ".join([f"{name} ({len(one.session.cases)})" for name, one in found.items()])
        hint = "-o FOLDER/ writes a session for each, --predictor chooses"
        raise CommandError(f"the calls have {len(found)} signatures: {names}; {hint}")
    return {name: _fitted(options, imported, into) for name, imported in found.items()}


def _is_folder(path: str) -> bool:
    return path.endswith("/") or Path(path).is_dir()


def _given(options: arguments.Options, into: Session | None) -> SignatureText | None:
    """Return the signature for the import: the option's, else that of the session to import into."""
    if options.signature is not None:
        stays = into.signature if into is not None else SignatureText("")
        is_cot = options.cot or stays.predictor == COT
        return signature_text(options.signature, stays.instructions, is_cot, _folder(options))
    return into.signature if into is not None else None


def _fitted(options: arguments.Options, imported: Imported, into: Session | None) -> Imported:
    """Apply `--cot`, then merge into a session or set the config file's columns."""
    session = imported.session
    signature = session.signature
    if options.cot and signature.predictor != COT and REASONING not in signature.read().fields:
        session = replace(session, signature=replace(signature, predictor=COT))
    if into is not None:
        return merging.merged(into, replace(imported, session=session))
    if session.columns == DEFAULT_COLUMNS:
        columns = tuple([Column(name, name) for name in settings.load().settings.columns])
        session = replace(session, columns=columns)
    return replace(imported, session=session)


def _folder(options: arguments.Options) -> Path:
    """Return the folder of the session; links to programs are relative to it."""
    return Path(options.into or options.output or "x.json").parent


def _shape(imported: Imported, target: str | None, written: bool) -> dict[str, object]:
    signature = imported.session.signature
    return {
        "path": target,
        "written": written,
        "notes": list(imported.notes),
        "questions": list(imported.questions),
        "guesses": list(imported.guesses),
        "signature": {
            "text": signature.text,
            "class": signature.class_name,
            "instructions": signature.instructions,
        },
        "demos": len(imported.session.demos),
        "cases": [case.name for case in imported.session.cases],
        "variants": [{"tag": one.tag, "of": one.of, "score": one.score} for one in imported.session.variants],
    }
