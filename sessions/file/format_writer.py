"""The parts of a session as JSON data. Our keys come in the order written here; unknown keys stand behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sessions.errors import SessionError, step_into
from sessions.file.file_parts import as_data
from sessions.file.format_reader import is_switch
from sessions.file.json_values import JSON, UnwritableError, encode, encode_line, encode_text, has_surrogate_pair
from sessions.file.written_parts import WrittenParts
from sessions.model.session import Case, Column, Demo, Recording, SignatureText, SourceLink, Tool, Variant

DEMO_LEVEL = 2
RECORDING_LEVEL = 4
"""How deep they stand in the file."""


def lines(text: str) -> list[JSON]:
    return [encode_line(line) for line in text.split("\n")]


class Writer:
    """Turns the parts of a session into JSON data, naming the place of what cannot be."""

    def __init__(self, path: str | None, parts: WrittenParts | None = None) -> None:
        self._path = path
        self._parts = parts

    def value(self, value: Any, place: str) -> JSON:
        try:
            return encode(value)
        except UnwritableError as error:
            where = error.place_in(place)
            raise SessionError(self._path, where, error.message, "a session holds plain JSON values") from None

    def with_extra(self, own: dict[str, JSON], extra: Mapping[str, Any], place: str) -> dict[str, JSON]:
        """Our own keys, and behind them those that `extra` keeps."""
        for key in extra:
            if key in own or has_surrogate_pair(key):
                raise SessionError(self._path, step_into(place, key), "cannot stand beside the session's own keys")
        return own | {key: self.value(item, step_into(place, key)) for key, item in extra.items()}

    def signature(self, signature: SignatureText, place: str) -> dict[str, JSON]:
        own = {
            "text": lines(signature.text),
            "class": None if signature.class_name is None else encode_text(signature.class_name),
            "predictor": signature.predictor,
            "instructions": None if signature.instructions is None else lines(signature.instructions),
        }
        if signature.source is not None:
            own["source"] = self.source(signature.source, f"{place}.source")
        if signature.decisions:
            own["decisions"] = self.value(signature.decisions, f"{place}.decisions")
        return self.with_extra(own, signature.extra, place)

    def source(self, link: SourceLink, place: str) -> dict[str, JSON]:
        own: dict[str, JSON] = {
            "file": encode_text(link.file),
            "class": encode_text(link.class_name),
            "digest": encode_text(link.digest),
        }
        return self.with_extra(own, link.extra, place)

    def column(self, column: Column, place: str) -> dict[str, JSON]:
        own = {
            "id": encode_text(column.id),
            "adapter": encode_text(column.adapter),
            "options": self.value(column.options, f"{place}.options"),
            "model": None if column.model is None else encode_text(column.model),
            "params": self.value(column.params, f"{place}.params"),
        }
        if column.variant is not None:
            own["variant"] = encode_text(column.variant)
        return self.with_extra(own, column.extra, place)

    def demo(self, demo: Demo, place: str) -> JSON:
        return self._once(demo, lambda: self._demo(demo, place), DEMO_LEVEL)

    def _demo(self, demo: Demo, place: str) -> JSON:
        own = {"enabled": demo.enabled, "values": self.value(demo.values, f"{place}.values")}
        return self.with_extra(own, demo.extra, place)

    def tool(self, tool: Tool, place: str) -> dict[str, JSON]:
        own = {
            "name": encode_text(tool.name),
            "description": lines(tool.description),
            "parameters": self.value(tool.parameters, f"{place}.parameters"),
            "results": self.value(list(tool.results), f"{place}.results"),
        }
        return self.with_extra(own, tool.extra, place)

    def variant(self, variant: Variant, place: str) -> dict[str, JSON]:
        own = {
            "tag": encode_text(variant.tag),
            "of": encode_text(variant.of),
            "text": lines(variant.text),
            "original": encode_text(variant.original),
        }
        return self.with_extra(own, variant.extra, place)

    def case(self, case: Case, place: str) -> dict[str, JSON]:
        recordings = {}
        for id, recording in case.recordings.items():
            where = step_into(f"{place}.recordings", id)
            if has_surrogate_pair(id):
                raise SessionError(self._path, where, "half characters (surrogates) cannot stand in a column's id")
            recordings[id] = self.recording(recording, where)
        own = {
            "name": encode_text(case.name),
            "inputs": self.value(case.inputs, f"{place}.inputs"),
            "history": [self.turn(case, number, f"{place}.history[{number}]") for number in range(len(case.history))],
            "expect": self.value(case.expect, f"{place}.expect"),
            "recordings": recordings,
            "replies": self.value({id: as_data(one) for id, one in case.replies.items()}, f"{place}.replies"),
            "measured": self.value(
                {id: [as_data(one) for one in of] for id, of in case.measured.items()}, f"{place}.measured"
            ),
        }
        return self.with_extra(own, case.extra, place)

    def turn(self, case: Case, number: int, place: str) -> JSON:
        """A turn as it is; within a switch when it is off, or when its own keys would be taken for one."""
        values, enabled = case.history[number], number not in case.turns_off
        if enabled and not is_switch(values):
            return self.value(values, place)
        return {"enabled": enabled, "values": self.value(values, f"{place}.values")}

    def recording(self, recording: Recording, place: str) -> JSON:
        return self._once(recording, lambda: self._recording(recording, place), RECORDING_LEVEL)

    def _once(self, part: Demo | Recording, make: Callable[[], JSON], level: int) -> JSON:
        return make() if self._parts is None else self._parts.text_of(part, make, level)

    def _recording(self, recording: Recording, place: str) -> JSON:
        own = {
            "source": recording.source,
            "versions": self.value(recording.versions, f"{place}.versions"),
            "capabilities": self.value(recording.capabilities, f"{place}.capabilities"),
            "messages": self.value(list(recording.messages), f"{place}.messages"),
            "request": self.value(recording.request, f"{place}.request"),
            "attempts": self.value([as_data(one) for one in recording.attempts], f"{place}.attempts"),
        }
        return self.with_extra(own, recording.extra, place)
