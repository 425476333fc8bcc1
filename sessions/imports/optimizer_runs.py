"""Import the candidates of a GEPA or MIPROv2 run as variants of a session's instructions.

Supported forms, written by dspy 3.4.1 and gepa or saved with a line of Python:

- GEPA's `log_dir`: its `candidates.json`, a text by predictor for each candidate (`gepa.core.state.GEPAState.save`);
  scores are only in `gepa_state.bin`, a pickle, which is not read
- `json.dump(program.detailed_results.to_dict(), …)` of a run with `track_stats=True`, including scores
- MIPROv2's `log_dir`: its `evaluated_programs/program_N.json` (`dspy.teleprompt.utils.save_candidate_program`), with
  the scores of a `trial_logs.json` in the folder, if it was saved
- a list of `{"score", "program"}` from `candidate_programs`; each `program` is the result of `program.dump_state()`
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from adapters.late_dataclasses import dataclass, replace
from sessions.errors import SessionError
from sessions.imports import dspy_program
from sessions.imports.reading import Imported, json_of, list_in, listed, text_of
from sessions.model.parameters import kind_of
from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText, Variant
from sessions.model.variants import INSTRUCTIONS

LONGEST_WHOLE = 1_000
"""The most bits of an integer that counts as a score."""
CANDIDATES = "candidates.json"
STATE = "gepa_state.bin"
PROGRAMS = "evaluated_programs"
TRIALS = "trial_logs.json"
_PROGRAM = re.compile(r"program_(-?\d+)(?:_.*)?\.json")

SAVE_GEPA = "json.dump(program.detailed_results.to_dict(), open('gepa.json', 'w'), default=str)"
SAVE_MIPRO = (
    "json.dump([{'score': one['score'], 'program': one['program'].dump_state()} "
    "for one in program.candidate_programs], open('mipro.json', 'w'), default=str)"
)


@dataclass(frozen=True)
class Candidate:
    """A program that an optimiser tried: instructions by predictor name, and the score if known."""

    tag: str
    texts: Mapping[str, str]
    score: float | None
    demos: int = 0


def is_run(data: object) -> bool:
    """Return whether decoded JSON is a run saved with its scores."""
    if isinstance(data, dict):
        return "val_aggregate_scores" in data and _are_texts(data.get("candidates"))
    saved = [one.get("program") if isinstance(one, dict) else None for one in list_in(data)]
    return bool(saved) and all(map(dspy_program.is_program, saved))


def is_log(path: str) -> bool:
    """Return whether a file is GEPA's `candidates.json`, next to its state or log."""
    file = Path(path)
    return file.name == CANDIDATES and any((file.parent / name).is_file() for name in (STATE, "run_log.json"))


def is_folder(path: str) -> bool:
    """Return whether a folder is a `log_dir` of GEPA or MIPROv2."""
    folder = Path(path)
    return folder.is_dir() and ((folder / CANDIDATES).is_file() or _programs_in(folder) is not None)


def from_folder(path: str, given: SignatureText | None, predictor: str | None = None) -> Imported:
    """Import the candidates in an optimiser's `log_dir`. Raises the errors of `from_run`."""
    folder = Path(path)
    if (folder / CANDIDATES).is_file():
        file = str(folder / CANDIDATES)
        return from_run(json_of(text_of(file), file), file, given, predictor)
    programs = _programs_in(folder)
    if programs is None:
        raise SessionError(path, "", f"it has neither {CANDIDATES} nor {PROGRAMS}/", "GEPA and MIPROv2 write these")
    scores = _scores_of_trials(folder)
    candidates: list[Candidate] = []
    for saved, number in programs:
        state = json_of(text_of(str(saved)), str(saved))
        tag = "mipro-start" if number < 0 else f"mipro-{number}"
        candidates.append(_program_candidate(tag, state, scores.get(saved.name), str(saved), ""))
    return _imported(candidates, path, given, predictor, SAVE_MIPRO)


def from_run(data: object, path: str, given: SignatureText | None, predictor: str | None = None) -> Imported:
    """Import the candidates of a run as variants of the instructions of `given`.

    Raises `SessionError` for other data, for a missing signature and for an ambiguous predictor; and `SignatureError`.
    """
    texts, scores = data, list[object]()
    if isinstance(data, dict):
        texts, scores = data.get("candidates"), list_in(data.get("val_aggregate_scores"))
        if not _are_texts(texts):
            raise SessionError(path, "candidates", "expected a list of objects: a text by predictor", SAVE_GEPA)
    if _are_texts(texts):
        pairs = zip(texts, [*map(_score, scores), *[None] * len(texts)], strict=False)
        found = [Candidate(f"gepa-{index}", *pair) for index, pair in enumerate(pairs)]
        return _imported(found, path, given, predictor, SAVE_GEPA)
    if not isinstance(data, list):
        raise SessionError(path, "", f"expected the candidates of an optimiser, got {kind_of(data)}", SAVE_GEPA)
    candidates: list[Candidate] = []
    for index, one in enumerate(data):
        place = f"[{index}]"
        if not isinstance(one, dict) or not isinstance(one.get("program"), dict):
            raise SessionError(path, place, 'expected {"score", "program"}', SAVE_MIPRO)
        candidates.append(
            _program_candidate(f"mipro-{index}", one["program"], one.get("score"), path, f"{place}.program")
        )
    return _imported(candidates, path, given, predictor, SAVE_MIPRO)


def _are_texts(value: object) -> TypeGuard[list[dict[str, str]]]:
    texts = [list(one.values()) if isinstance(one, dict) else [None] for one in list_in(value)]
    return bool(texts) and all(isinstance(text, str) for each in texts for text in each)


def _program_candidate(tag: str, state: object, score: object, path: str, place: str) -> Candidate:
    if not isinstance(state, dict) or not dspy_program.is_program(state):
        raise SessionError(path, place, "expected a program that dspy saved", SAVE_MIPRO)
    found = dspy_program.predictors_of(state)
    texts = {name or "self": dspy_program.instructions_of(one) for name, one in found.items()}
    demos = sum(len(one["demos"]) for one in found.values())
    return Candidate(tag, {name: text for name, text in texts.items() if text is not None}, _score(score), demos)


def _score(value: object) -> float | None:
    """Return a score as a finite float, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    is_small = isinstance(value, float) or value.bit_length() <= LONGEST_WHOLE
    return float(value) if is_small and math.isfinite(value) else None


def _programs_in(folder: Path) -> list[tuple[Path, int]] | None:
    """Return the saved programs with their trial numbers; None if there are none."""
    inner = folder / PROGRAMS
    found = [
        (file, int(named[1]))
        for file in (inner if inner.is_dir() else folder).glob("program_*.json")
        if (named := _PROGRAM.fullmatch(file.name)) is not None and file.is_file()
    ]
    return sorted(found, key=lambda one: (one[1], one[0].name)) or None


def _scores_of_trials(folder: Path) -> dict[str, Any]:
    """Return scores from `trial_logs.json` by a program's file name; full evaluations override minibatches."""
    file = folder / TRIALS
    if not file.is_file():
        return {}
    logs = json_of(text_of(str(file)), str(file))
    scores: dict[str, Any] = {}
    for kind in ("mb", "full_eval"):
        for one in logs.values() if isinstance(logs, dict) else ():
            if isinstance(one, dict) and isinstance(one.get(f"{kind}_program_path"), str):
                name = one[f"{kind}_program_path"].replace("\\", "/").rpartition("/")[2]
                scores[name] = one.get(f"{kind}_score")
    return scores


def _imported(
    candidates: Sequence[Candidate], path: str, given: SignatureText | None, predictor: str | None, how_to_save: str
) -> Imported:
    if given is None:
        raise SessionError(
            path, "", "candidates are wordings, not a signature", "give --into SESSION, or --signature FILE.py:Class"
        )
    name = _chosen(candidates, predictor, path, how_to_save)
    before = given.read().instructions
    notes = [f"{len(candidates):,} candidates of the predictor `{name}`"]
    made = list(_variants(candidates, name, before, notes))
    if all(one.score is None for one in candidates):
        notes.append(f"it has no scores; this saves it with scores: {how_to_save}")
    demos = sum(one.demos for one in candidates)
    if demos:
        notes.append("their demos are not imported: a variant is only a text; import a program alone for its demos")
    session = Session(given, variants=tuple(made), columns=DEFAULT_COLUMNS)
    return Imported(session, tuple(notes), has_signature=False)


def _chosen(candidates: Sequence[Candidate], predictor: str | None, path: str, how_to_save: str) -> str:
    names = list(dict.fromkeys(name for one in candidates for name in one.texts))
    if predictor is None and len(names) == 1:
        return names[0]
    if not names:
        raise SessionError(path, "", "no candidate has instructions", how_to_save)
    if predictor is None:
        raise SessionError(path, "", f"it has {len(names)} predictors", f"name one: --predictor {' | '.join(names)}")
    if predictor not in names:
        raise SessionError(path, "", f"it has no predictor {predictor[:80]!r}", f"there are {listed(names)}")
    return predictor


def _variants(candidates: Sequence[Candidate], name: str, before: str, notes: list[str]) -> Iterator[Variant]:
    """Make a variant for each distinct text, with its first candidate's tag and best score."""
    by_text: dict[str, Variant] = {}
    for one in candidates:
        text = one.texts.get(name)
        if text is None:
            continue
        if text.strip() == before.strip():
            score = "" if one.score is None else f", score {one.score:g}"
            notes.append(f"{one.tag} has the instructions of the session{score}")
            continue
        found = by_text.get(text)
        if found is None:
            by_text[text] = Variant(one.tag, INSTRUCTIONS, text, Variant.hash_of(before), score=one.score)
            continue
        notes.append(f"{one.tag} has the wording of {found.tag}")
        if one.score is not None and (found.score is None or one.score > found.score):
            by_text[text] = replace(found, score=one.score)
    best = sorted([one for one in by_text.values() if one.score is not None], key=lambda one: -(one.score or 0))
    if best:
        notes.append("scores: " + ", ".join(f"{one.tag} {one.score:g}" for one in best[:12]))
    return iter(by_text.values())
