"""The parts of a session from JSON data, naming the place of the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from sessions.file import file_parts
from sessions.file.value_reader import ValueReader
from sessions.model.replies import Measured, RecordedAttempt, Reply
from sessions.model.session import (
    Case,
    Column,
    Demo,
    Predictor,
    RecordedSource,
    Recording,
    SignatureText,
    SourceLink,
    Tool,
    Variant,
)

SWITCH = {"enabled", "values"}


def others(data: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in known}


def is_switch(turn: Mapping[str, Any]) -> bool:
    """Whether an item of a history is `{"enabled", "values"}` around a turn, in place of the turn itself."""
    return turn.keys() == SWITCH and type(turn["enabled"]) is bool and isinstance(turn["values"], Mapping)


class Reader(ValueReader):
    """Turns decoded JSON data into the parts of a session, naming the place of what is wrong."""

    def signature(self, top: Mapping[str, Any], place: str) -> SignatureText:
        data = self.object(self.needed(top, "signature", ""), place)
        instructions, class_name = data.get("instructions"), data.get("class")
        predictor = self.one_of(data.get("predictor", "Predict"), f"{place}.predictor", get_args(Predictor))
        return SignatureText(
            text=self.lines(self.needed(data, "text", place), f"{place}.text"),
            class_name=None if class_name is None else self.text(class_name, f"{place}.class"),
            predictor="ChainOfThought" if predictor == "ChainOfThought" else "Predict",
            instructions=None if instructions is None else self.lines(instructions, f"{place}.instructions"),
            extra=others(data, ("text", "class", "predictor", "instructions", "source", "decisions")),
            source=None if data.get("source") is None else self.source(data["source"], f"{place}.source"),
            decisions=self.by_name(data.get("decisions", {}), f"{place}.decisions", self.object),
        )

    def source(self, value: Any, place: str) -> SourceLink:
        data = self.object(value, place)
        return SourceLink(
            file=self.text(self.needed(data, "file", place), f"{place}.file"),
            class_name=self.text(self.needed(data, "class", place), f"{place}.class"),
            digest=self.text(data.get("digest", ""), f"{place}.digest"),
            extra=others(data, ("file", "class", "digest")),
        )

    def column(self, value: Any, place: str) -> Column:
        data = self.object(value, place)
        model, variant = data.get("model"), data.get("variant")
        adapter = self.text(self.needed(data, "adapter", place), f"{place}.adapter")
        return Column(
            id=self.text(data.get("id", adapter), f"{place}.id"),
            adapter=adapter,
            options=self.object(data.get("options", {}), f"{place}.options"),
            model=None if model is None else self.text(model, f"{place}.model"),
            params=self.object(data.get("params", {}), f"{place}.params"),
            extra=others(data, ("id", "adapter", "options", "model", "params", "variant")),
            variant=None if variant is None else self.text(variant, f"{place}.variant"),
        )

    def demo(self, value: Any, place: str) -> Demo:
        data = self.object(value, place)
        return Demo(
            values=self.object(self.needed(data, "values", place), f"{place}.values"),
            enabled=self.boolean(data.get("enabled", True), f"{place}.enabled"),
            extra=others(data, ("enabled", "values")),
        )

    def tool(self, value: Any, place: str) -> Tool:
        data = self.object(value, place)
        return Tool(
            name=self.text(self.needed(data, "name", place), f"{place}.name"),
            description=self.lines(data.get("description", ""), f"{place}.description"),
            parameters=self.text_or_object(data.get("parameters", {}), f"{place}.parameters"),
            results=self.objects(data.get("results", []), f"{place}.results"),
            extra=others(data, ("name", "description", "parameters", "results")),
        )

    def variant(self, value: Any, place: str) -> Variant:
        data = self.object(value, place)
        return Variant(
            tag=self.text(self.needed(data, "tag", place), f"{place}.tag"),
            of=self.text(self.needed(data, "of", place), f"{place}.of"),
            text=self.lines(self.needed(data, "text", place), f"{place}.text"),
            original=self.text(data.get("original", ""), f"{place}.original"),
            extra=others(data, ("tag", "of", "text", "original")),
        )

    def case(self, value: Any, place: str) -> Case:
        data = self.object(value, place)
        turns, turns_off = self.turns(data.get("history", []), f"{place}.history")
        return Case(
            name=self.text(self.needed(data, "name", place), f"{place}.name"),
            inputs=self.object(data.get("inputs", {}), f"{place}.inputs"),
            history=turns,
            expect=self.object(data.get("expect", {}), f"{place}.expect"),
            recordings=self.by_name(data.get("recordings", {}), f"{place}.recordings", self.recording),
            replies=self.by_name(data.get("replies", {}), f"{place}.replies", self.reply),
            measured=self.by_name(data.get("measured", {}), f"{place}.measured", self.measured),
            extra=others(data, ("name", "inputs", "history", "expect", "recordings", "replies", "measured")),
            turns_off=turns_off,
        )

    def turns(self, value: Any, place: str) -> tuple[tuple[dict[str, Any], ...], frozenset[int]]:
        """The turns of a history, and the places of those that are switched off."""
        given = self.objects(value, place)
        turns = tuple([turn["values"] if is_switch(turn) else turn for turn in given])
        off = [number for number, turn in enumerate(given) if is_switch(turn) and not turn["enabled"]]
        return turns, frozenset(off)

    def reply(self, value: Any, place: str) -> Reply:
        return file_parts.read(self, Reply, value, place)

    def measured(self, value: Any, place: str) -> tuple[Measured, ...]:
        return self.each(value, place, lambda one, where: file_parts.read(self, Measured, one, where))

    def recording(self, value: Any, place: str) -> Recording:
        data = self.object(value, place)
        source = self.one_of(data.get("source", "sent"), f"{place}.source", get_args(RecordedSource))
        return Recording(
            messages=self.objects(self.needed(data, "messages", place), f"{place}.messages"),
            request=self.object(data.get("request", {}), f"{place}.request"),
            attempts=self.each(data.get("attempts", []), f"{place}.attempts", self.attempt),
            versions=self.by_name(data.get("versions", {}), f"{place}.versions", self.text),
            source=next(word for word in get_args(RecordedSource) if word == source),
            capabilities=self.object(data.get("capabilities", {}), f"{place}.capabilities"),
            extra=others(data, ("source", "versions", "capabilities", "messages", "request", "attempts")),
        )

    def attempt(self, value: Any, place: str) -> RecordedAttempt:
        return file_parts.read(self, RecordedAttempt, value, place)
