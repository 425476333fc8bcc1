"""Makes docs/loop.svg, the moving picture of the README, from the real app: run `python docs/moving_picture.py`.

A person sends, goes to the reply that fails to parse, fixes it, and adds a field, which every prompt follows. Each
screen becomes a frame; what several frames share is drawn once, so the file stays small.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from textual.pilot import Pilot

from workbench.tui.app import WorkbenchApp
from workbench.tui.launch import opened

FILE = Path(__file__).with_name("loop.svg")
SIZE = (120, 35)
TYPED = ", items: list[str]"
FAILING = "xml"

LOOK, LETTER, READ = 2.0, 0.16, 3.0
"""Seconds: to look at a new screen, for each typed letter, and to read a reply."""


class Frame(NamedTuple):
    svg: str
    seconds: float


async def record(app: WorkbenchApp) -> list[Frame]:
    """Drive the app through the loop. Raises RuntimeError when a step does not lead where it should."""
    frames: list[Frame] = []
    async with app.run_test(size=SIZE, notifications=True) as pilot:

        async def show(seconds: float, *keys: str, until: Callable[[], bool] = lambda: True) -> None:
            await pilot.press(*keys)
            await wait(pilot, until)
            frames.append(Frame(app.export_screenshot(title="adapter-workbench"), seconds))

        def verdict() -> str:
            return next(f"{one.sign} {one.words}" for one in app.main.columns.verdicts if one.id == FAILING)

        await pilot.pause()
        app.main.columns.set_quiet(True)
        await show(LOOK)
        await show(READ, "f5", until=lambda: not app.main.runs.active and "not escaped" in verdict())
        for _ in app.document.state.session.columns:
            await show(LETTER, "f4")
            if (pane := app.main.columns.current) is not None and pane.column_id == FAILING:
                break
        await show(READ)
        await show(LETTER, "right")
        for letter in "amp;":
            await show(LETTER * 2, {";": "semicolon"}.get(letter, letter))
        await show(READ, until=lambda: "✓" in verdict())
        await show(LETTER, "f2", "ctrl+end")
        for letter in TYPED:
            await show(LETTER, {" ": "space", ",": "comma"}.get(letter, letter))
        await show(READ)
    return frames


async def wait(pilot: Pilot[int], until: Callable[[], bool]) -> None:
    for _ in range(1_000):
        await pilot.pause(0.02)
        if until():
            return await pilot.pause()
    raise RuntimeError("the app did not reach the next step of the moving picture")


def animated(frames: list[Frame]) -> str:
    """Join frames into one SVG: each element is drawn once, and shown while a frame that has it is."""
    seen: dict[str, set[int]] = {}
    for number, frame in enumerate(frames):
        for element in elements(frame.svg):
            seen.setdefault(element, set()).add(number)
    groups: dict[frozenset[int], list[str]] = {}
    for element, numbers in seen.items():
        groups.setdefault(frozenset(numbers), []).append(element)
    starts = [sum(frame.seconds for frame in frames[:number]) for number in range(len(frames) + 1)]
    style: list[str] = []
    drawn = {"<rect": "", "<text": ""}
    for index, (frames_with, group) in enumerate(groups.items()):
        for kind in drawn:
            part = "".join(element for element in group if element.startswith(kind))
            drawn[kind] += f'<g class="g{index}">{part}</g>\n' if part else ""
        if len(frames_with) < len(frames):
            style.append(f"@keyframes k{index} {{{keyframes(frames_with, starts)}}}")
            style.append(f".g{index} {{animation: k{index} {starts[-1]:.2f}s step-end infinite}}")
        if len(frames) - 1 not in frames_with:
            style.append(f".g{index} {{visibility: hidden}}")
    head, _, rest = frames[0].svg.partition("<style>")
    window = re.search(r'<rect fill="[^"]*" stroke=.*?</g>', rest, re.DOTALL)
    assert window is not None
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)[0]
    still = "@media (prefers-reduced-motion: reduce) {g {animation: none !important}}"
    return (
        f'<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">\n<style>'
        + "text {font: 20px Fira Code, monospace; white-space: pre} rect {shape-rendering: crispEdges}\n"
        + "\n".join([*style, still])
        + f'</style>\n{re.sub(r"terminal-[0-9]+-", "", window[0])}\n<g transform="translate(9, 41)">\n'
        + f"{drawn['<rect']}{drawn['<text']}</g>\n</svg>\n"
    )


def elements(svg: str) -> list[str]:
    """The rectangles and texts of one screen, with the style of each written out."""
    styles = dict(re.findall(r"\.terminal-\d+-(r\d+) \{ (.*?) \}", svg))
    screen = svg.partition('-clip-terminal)">')[2]
    found = []
    for element in re.findall(r"<rect [^>]*/>|<text .*?</text>", screen, re.DOTALL):
        plain = re.sub(r' (clip-path|shape-rendering)="[^"]*"', "", element)
        styled = re.sub(r'class="terminal-\d+-(r\d+)"', lambda one: f'style="{styles[one[1]]}"', plain)
        if not re.search(r">(&#160;)*</text>", styled):
            found.append(styled.replace("&#160;", " "))
    return found


def keyframes(numbers: frozenset[int], starts: list[float]) -> str:
    """When a group is visible, in percent of the whole time, without repeating a state."""
    stops: list[str] = []
    before = None
    for number, start in enumerate(starts[:-1]):
        state = "visible" if number in numbers else "hidden"
        if state != before:
            stops.append(f"{100 * start / starts[-1]:.3f}% {{visibility: {state}}}")
        before = state
    return " ".join(stops)


def example() -> WorkbenchApp:
    return WorkbenchApp(*opened(None), keep=False)


def main() -> None:
    FILE.write_text(animated(asyncio.run(record(example()))), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
