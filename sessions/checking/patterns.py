"""Match untrusted regular expressions and JSON Schemas within limits.

A pattern such as `(a+)+$` can run practically forever, and Python cannot interrupt it. Patterns with repetition are
therefore searched in a child process, which is killed on timeout. It starts on first use.

Schemas are checked with jsonschema, without fetching anything: keywords must be on a list (an ignored keyword could let
a wrong value pass), references must stay within the schema and terminate, and their patterns are searched as above.
"""

from __future__ import annotations

import atexit
import json
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.late_dataclasses import dataclass, field
from sessions.errors import step_into
from sessions.file.json_values import JSON
from sessions.file.typed_values import same

if TYPE_CHECKING:
    import subprocess

SECONDS = 2.0
WORKER = Path(__file__).with_name("pattern_worker.py")
TEXT_LIMIT = 100_000
"""The maximum length of a searched text."""
PATTERN_LIMIT = 1_000

_REPEATS = frozenset("*+{?")


class PatternError(ValueError):
    """Raised for a pattern that is invalid, too long or too slow. The message says which."""


def matches(pattern: str, text: str) -> bool:
    """Return whether `pattern` is found in `text`. Raises `PatternError`."""
    if len(pattern) > PATTERN_LIMIT:
        raise PatternError(f"the pattern has {len(pattern):,} characters; the limit is {PATTERN_LIMIT:,}")
    if len(text) > TEXT_LIMIT:
        raise PatternError(f"the text has {len(text):,} characters; the limit for a pattern is {TEXT_LIMIT:,}")
    if not _REPEATS.isdisjoint(pattern):
        return _WORKER.search(pattern, text)
    try:
        return re.search(pattern, text) is not None
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"the pattern is not valid: {error}") from None


@dataclass(eq=False)
class _Worker:
    """The child process, which handles one search at a time."""

    _process: subprocess.Popen[str] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def search(self, pattern: str, text: str) -> bool:
        import subprocess

        with self._lock:
            process = self._process
            if process is None or process.poll() is not None:
                process = self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-X", "utf8", str(WORKER)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    encoding="ascii",
                )
            assert process.stdin is not None
            assert process.stdout is not None
            timer = threading.Timer(SECONDS, process.kill)
            timer.daemon = True
            timer.start()
            try:
                process.stdin.write(json.dumps({"pattern": pattern, "text": text}) + "\n")
                process.stdin.flush()
                line = process.stdout.readline()
            except OSError:
                line = ""
            finally:
                timer.cancel()
        if not line:
            self.stop()
            raise PatternError(f"the pattern took more than {SECONDS:g} seconds; write it without nested repeats")
        answer = json.loads(line)
        if "error" in answer:
            raise PatternError(f"the pattern is not valid: {answer['error']}")
        return bool(answer["found"])

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_WORKER = _Worker()
atexit.register(_WORKER.stop)


MOST_REFERENCES = 10_000
"""The maximum number of references followed for a value, as they can branch without end."""
LONGEST_WORDS = 200

_IN_A_SCHEMA = ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")
_IN_A_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_BY_NAME = ("properties", "dependentSchemas", "$defs", "definitions")
_OTHERS = frozenset(
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems "
    "maxItems uniqueItems minContains maxContains minProperties maxProperties required dependentRequired $ref format "
    "title description default examples $comment $schema $id".split()
)

_references_left: ContextVar[int] = ContextVar("_references_left", default=MOST_REFERENCES)


class SchemaError(ValueError):
    """Raised for a schema that cannot be used here. The message says why."""


def problem(value: JSON, schema: object) -> str | None:
    """Return the problem of `value` with its place, or None.

    Raises `SchemaError` and `patterns.PatternError`.
    """
    from jsonschema import exceptions
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    _references_left.set(MOST_REFERENCES)
    try:
        _check_keywords(schema)
        _validator().check_schema(schema, format_checker=None)
        error = next(_validator()(schema, registry=Registry()).iter_errors(value), None)
    except exceptions.SchemaError as refused:
        place, said = _place(refused.absolute_path), _words(refused)
        raise SchemaError(f"the schema has the wrong kind of value at {place or 'the top'}: it {said}") from None
    except Unresolvable as error:
        raise SchemaError(f"a $ref of the schema leads nowhere: {error}"[:LONGEST_WORDS]) from None
    except RecursionError:
        raise SchemaError("the schema refers to itself without end, or is nested too deeply") from None
    if error is None:
        return None
    place = _place(error.absolute_path)
    return f"{place}: {_words(error)}" if place else _words(error)


def equal(one: JSON, other: JSON) -> bool:
    """Compare by JSON equality: 1 equals 1.0 but not true. Key order is ignored."""
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return same(one, other)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_keywords(schema: object) -> None:
    """Raise SchemaError for an unsupported keyword or a reference outside the schema."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, bool):
            continue
        if not isinstance(one, Mapping):
            raise SchemaError("a schema is an object, true or false")
        for keyword, argument in one.items():
            if keyword in _IN_A_SCHEMA:
                waiting.append(argument)
            elif keyword in _IN_A_LIST and isinstance(argument, list):
                waiting.extend(argument)
            elif keyword in _BY_NAME and isinstance(argument, Mapping):
                waiting.extend(argument.values())
            elif keyword not in (*_OTHERS, *_IN_A_LIST, *_BY_NAME):  # the meta schema checks known ones
                raise SchemaError(f'the schema\'s keyword "{keyword}" is not supported')
        reference = one.get("$ref", "#")
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise SchemaError(f"the schema's $ref {reference!r} leads out of it; only #/… is followed")


@cache
def _validator() -> Any:
    """Return jsonschema's class for draft 2020-12 with bounded keywords; loaded on first use."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    follow = Draft202012Validator.VALIDATORS["$ref"]

    def reference(validator: object, argument: object, value: object, schema: object) -> Iterator[Any]:
        left = _references_left.get() - 1
        _references_left.set(left)
        if left < 0:
            raise RecursionError
        yield from follow(validator, argument, value, schema)

    def pattern(validator: object, argument: str, value: object, schema: object) -> Iterator[Any]:
        if isinstance(value, str) and not matches(argument, value):
            yield ValidationError(f"does not match {argument!r}")

    def multiple_of(validator: object, argument: float, value: Any, schema: object) -> Iterator[Any]:
        """Compare decimal notations: 12.55 is a multiple of 0.01, though not as floats."""
        if _is_number(value) and _fraction(value) % _fraction(argument):
            yield ValidationError(f"is not a multiple of {argument}")

    return validators.extend(Draft202012Validator, {"$ref": reference, "pattern": pattern, "multipleOf": multiple_of})


def _fraction(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _place(path: Any) -> str:
    place = ""
    for step in path:
        place = step_into(place, step)
    return place


def _words(error: Any) -> str:
    """Return jsonschema's message without the leading value, which may be long and is shown elsewhere."""
    said = str(error.message).removeprefix(repr(error.instance)).strip()
    return said if len(said) <= LONGEST_WORDS else said[:LONGEST_WORDS] + "…"
