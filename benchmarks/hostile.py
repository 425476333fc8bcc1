"""Replies that are made to hurt: `python benchmarks/hostile.py` prints seconds to verdict and diagnosis (bar: 2).

Seconds of the processor: the clock of a busy machine says nothing about a reply. Each probe runs in a process of its
own, so that a crash or a hang of one is told and does not end the others.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pydantic

sys.path[:0] = [str(Path(__file__).parents[1])]

BAR, GIVE_UP = 2.0, 30.0

Probe = tuple[str, str, Callable[[int], str]]
PROBES: dict[str, Probe] = {
    "json: [ * n": ("json", "Any", lambda n: "[" * n),
    "json: { * n": ("json", "Any", lambda n: "{" * n),
    "json: ( * n": ("json", "Any", lambda n: "(" * n),
    "json: [ * n ] * n": ("json", "Any", lambda n: "[" * n + "]" * n),
    "json: {a * n": ("json", "Any", lambda n: "{a" * n),
    "json: nested values": ("json", "Any", lambda n: '{"v": ' + "[" * n + "]" * n + "}"),
    "json: {{}{}...": ("json", "Any", lambda n: "{" + "{}" * n),
    "json: sprinkled braces": ("json", "Any", lambda n: "prose { " * (n // 8)),
    "json: list of code lines": ("json", "Any", lambda n: "[" + '"if (x) {", ' * (n // 12) + "]"),
    "json: number then { * n": ("json", "Any", lambda n: "1 " + "{" * n),
    "json: unterminated string": ("json", "str", lambda n: '{"v": "' + "x" * n),
    "json: unterminated prose": ("json", "str", lambda n: '{"v": "' + "lorem ipsum " * (n // 12)),
    "json: unterminated with commas": ("json", "str", lambda n: '{"v": "' + "lorem, " * (n // 7)),
    "json: unterminated with colons": ("json", "str", lambda n: '{"v": "' + "lorem: " * (n // 7)),
    "json: inner quotes": ("json", "str", lambda n: '{"v": "' + 'a "b" ' * (n // 6) + '"}'),
    "json: inner quotes and commas": ("json", "str", lambda n: '{"v": "' + 'a "b", ' * (n // 7) + '"}'),
    "json: inner quotes and line breaks": ("json", "str", lambda n: '{"v": "' + 'a "b"\n' * (n // 6) + '"}'),
    "json: raw line breaks": ("json", "str", lambda n: '{"v": "' + "line\n" * (n // 5) + '"}'),
    "json: escaped quotes": ("json", "str", lambda n: '{"v": "' + '\\"' * (n // 2)),
    "json: unquoted words": ("json", "str", lambda n: "{v: " + "word " * (n // 5)),
    "json: prose": ("json", "str", lambda n: "lorem ipsum dolor. " * (n // 19)),
    "json: prose with braces": ("json", "str", lambda n: "lorem {ipsum} dolor. " * (n // 21)),
    "json: json lines": ("json", "str", lambda n: '{"v": 1}\n' * (n // 9)),
    "json: digits": ("json", "str", lambda n: '{"v": ' + "1" * n),
    "json: fenced code": ("json", "str", lambda n: "```json\n" + '{"v": "' + "x" * n + '"}\n```'),
    "json: many keys": ("json", "str", lambda n: "{" + ", ".join(f'"k{i}": {i}' for i in range(n // 10)) + ",}"),
    "json: the same key": ("json", "str", lambda n: "{" + '"v": 1, ' * (n // 8) + ",}"),
    "json: two keys in turn": ("json", "str", lambda n: "{" + '"v":1,"w":1,' * (n // 12) + '"x":1}'),
    "json: a key of objects": ("json", "str", lambda n: '{"v":"x",' + '"w":{},' * (n // 7) + '"x":1}'),
    "json: other keys": ("json", "str", lambda n: "{" + ",".join(f'"k{i}":1' for i in range(n // 11)) + "}"),
    "json: an optional list of texts <- {}": (
        "json",
        "list[str] | None",
        lambda n: '{"v": [' + "{}," * (n // 3) + "1]}",
    ),
    "json: a list in a model <- {}": ("json", "Node", lambda n: '{"v": {"children": [' + "{}," * (n // 3) + "1]}}"),
    "json: models <- {}": ("json", "list[Node]", lambda n: '{"v": [' + "{}," * (n // 3) + "{}]}"),
    "json: models <- numbers": ("json", "list[Node]", lambda n: '{"v": [' + "1," * (n // 2) + "1]}"),
    "json: an optional list of models <- {}": (
        "json",
        "list[Node] | None",
        lambda n: '{"v": [' + "{}," * (n // 3) + "{}]}",
    ),
    "json: one of several types <- {}": (
        "json",
        "list[Node | Sized | int]",
        lambda n: '{"v": [' + "{}," * (n // 3) + "{}]}",
    ),
    "json: members of an enum <- texts": ("json", "list[Color]", lambda n: '{"v": [' + '"b",' * (n // 4) + '"b"]}'),
    "json: allowed values <- texts": ("json", "list[Literal]", lambda n: '{"v": [' + '"c",' * (n // 4) + '"c"]}'),
    "json: a dict of models <- {}": (
        "json",
        "dict[str, Node]",
        lambda n: '{"v": {' + ",".join(f'"k{i}":{{}}' for i in range(n // 13)) + "}}",
    ),
    "json: models": ("json", "list[Sized]", lambda n: '{"v": [' + '{"size": 1},' * (n // 12) + '{"size": 1}]}'),
    "json: a tuple of numbers <- texts": ("json", "tuple[int, ...]", lambda n: '{"v": [' + '"",' * (n // 3) + "1]}"),
    "chat: prose lines": ("chat", "str", lambda n: "[[ ## v ## ]]\n" + "a line\n" * (n // 7)),
    "chat: markers": ("chat", "str", lambda n: "[[ ## x ## ]]\n" * (n // 14)),
    "chat: markers in one line": ("chat", "str", lambda n: "[[ ## v ## ]]" * (n // 13)),
    "chat: white space": ("chat", "str", lambda n: " " * n + "[[ ## v ## ]]\nx"),
    "chat: white space and markers": ("chat", "str", lambda n: (" " * 100 + "[[ ## v ## ]] ") * (n // 114)),
    "chat: int <- prose": ("chat", "int", lambda n: "[[ ## v ## ]]\n" + "lorem ipsum " * (n // 12)),
    "chat: list <- prose with quotes": (
        "chat",
        "list[str]",
        lambda n: "[[ ## v ## ]]\n" + 'lorem "ipsum" ' * (n // 14),
    ),
    "chat: list <- bullets": ("chat", "list[str]", lambda n: "[[ ## v ## ]]\n" + "- item\n" * (n // 7)),
    "chat: list <- table": ("chat", "list[str]", lambda n: "[[ ## v ## ]]\n" + "| a | b |\n" * (n // 10)),
    "chat: Any <- [ * n": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "[" * n),
    "chat: Any <- ( * n": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "(" * n),
    "chat: Any <- { * n": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "{" * n),
    "chat: a recursive model <- {[ * n": ("chat", "Node", lambda n: "[[ ## v ## ]]\n" + "{[" * (n // 2)),
    "chat: Any <- - * n": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "-" * n + "1"),
    "chat: Any <- 1+ * n": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "1+" * n + "1"),
    "chat: Any <- digits": ("chat", "Any", lambda n: "[[ ## v ## ]]\n" + "1" * n),
    "chat: int <- digits": ("chat", "int", lambda n: "[[ ## v ## ]]\n" + "1" * n),
    "xml: deep <b>": ("xml", "str", lambda n: "<v>" + "<b>" * n + "x" + "</b>" * n + "</v>"),
    "xml: deep dict": ("xml", "dict[str, Any]", lambda n: "<v>" + "<b>" * n + "x" + "</b>" * n + "</v>"),
    "xml: deep and unused": ("xml", "str", lambda n: "<v>x</v>" + "<b>" * n + "</b>" * n),
    "xml: siblings": ("xml", "str", lambda n: "<v>x</v>" + "<b/>" * (n // 4)),
    "xml: siblings of many names": ("xml", "str", lambda n: "<v>x</v>" + "".join(f"<b{i}/>" for i in range(n // 11))),
    "xml: repeated field": ("xml", "list[str]", lambda n: "<v>x</v>" * (n // 8)),
    "xml: entities": ("xml", "str", lambda n: "<v>" + "&amp;" * (n // 5) + "</v>"),
    "xml: attributes": ("xml", "str", lambda n: "<v " + " ".join(f"a{i}='x'" for i in range(n // 10)) + ">x</v>"),
    "xml: an entity bomb": (
        "xml",
        "str",
        lambda n: (
            "<!DOCTYPE x [" + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 20)) + "]><v>&a19;</v>"
        ),
    ),
    "xml: unclosed": ("xml", "str", lambda n: "<v>" * n),
    "xml: one big tag": ("xml", "str", lambda n: "<" + "v" * n),
}


class Node(pydantic.BaseModel):
    name: str
    children: list[Node] = []


class Sized(pydantic.BaseModel):
    size: int


class Color(Enum):
    red = "red"


TYPES: dict[str, Any] = {
    "list[Node]": list[Node],
    "list[Node] | None": list[Node] | None,
    "list[Node | Sized | int]": list[Node | Sized | int],
    "list[Sized]": list[Sized],
    "list[Color]": list[Color],
    "list[Literal]": list[Literal["a", "b"]],
    "dict[str, Node]": dict[str, Node],
    "Node": Node,
    "Any": Any,
    "str": str,
    "int": int,
    "list[str]": list[str],
    "list[str] | None": list[str] | None,
    "tuple[int, ...]": tuple[int, ...],
    "dict[str, Any]": dict[str, Any],
}


def probe(name: str, size: int) -> None:
    """Runs one probe in this process and prints its verdict."""
    from adapters.formats.catalog import make
    from adapters.signatures.signature import InputField, OutputField, Signature

    adapter, kind, build = PROBES[name]
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), TYPES[kind])
    completion = build(size)
    if len(completion) > size:
        completion = build(size * size // len(completion))
    engine = make(adapter)
    start = time.process_time()
    reading = engine.read(signature, completion)
    verdict = time.process_time() - start
    reading.flags  # noqa: B018
    reading.near_misses  # noqa: B018
    reading.diagnosis  # noqa: B018
    everything = time.process_time() - start
    what = "read" if reading.ok else f"{reading.error.type}: {reading.error.message[:70]!r}" if reading.error else "?"
    print(f"{verdict:.3f} {everything:.3f} {what}")


def main(sizes: tuple[int, ...]) -> int:
    slow = 0
    for name in PROBES:
        for size in sizes:
            try:
                done = subprocess.run(
                    [sys.executable, __file__, "--probe", name, str(size)],
                    capture_output=True,
                    text=True,
                    timeout=GIVE_UP,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                print(f"SLOW {name:36} {size:>10,}  no verdict within {GIVE_UP:g} s", flush=True)
                slow += 1
                continue
            if done.returncode:
                print(f"DIED {name:36} {size:>10,}  exit {done.returncode}: {done.stderr.strip()[-160:]}", flush=True)
                slow += 1
                continue
            verdict, everything, what = done.stdout.strip().split(" ", 2)
            late = float(verdict) > BAR or float(everything) > BAR
            slow += late
            label = "SLOW" if late else "ok  "
            print(
                f"{label} {name:36} {size:>10,}  {verdict} s (with diagnosis {everything} s)  {what}",
                flush=True,
            )
    print(f"{slow} of {len(PROBES) * len(sizes)} past {BAR:g} s")
    return 1 if slow else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        probe(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main(tuple(int(one) for one in sys.argv[1:]) or (100_000,)))
