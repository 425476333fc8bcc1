"""`Audio`: sound as base64 with its format. Nothing is fetched, and arrays are not encoded."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import Any

import pydantic

from adapters.types.base import Type
from adapters.types.schema_texts import SCHEMA_TEXTS


class Audio(Type):
    __doc__ = SCHEMA_TEXTS["Audio"]

    data: str
    audio_format: str

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    def __init__(self, *args: object, **data: Any) -> None:
        if len(args) > 1:
            raise TypeError(f"Audio expected at most 1 positional argument, received {len(args)}")
        if args:
            if "data" in data:
                raise TypeError("Audio received data as both a positional and keyword argument")
            (value,) = args
            sampling_rate = data.pop("sampling_rate", None)
            audio_format = data.pop("audio_format", None)
            if audio_format is not None and _carries_own_format(value):
                raise TypeError(
                    "Audio received audio_format alongside an input that already carries its format; provide only one"
                )
            if sampling_rate is not None and not hasattr(value, "shape"):
                raise TypeError("Audio received sampling_rate for a non-array input; it only applies to array data")
            data = {**encode_audio(value, audio_format or "wav"), **data}
        super().__init__(**data)

    def format(self) -> list[dict[str, object]]:
        return [{"type": "input_audio", "input_audio": {"data": self.data, "format": self.audio_format}}]

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, values: object) -> object:
        if isinstance(values, cls):
            return {"data": values.data, "audio_format": values.audio_format}
        return encode_audio(values)

    @classmethod
    def from_path(cls, file_path: str) -> Audio:
        """The sound in a local file; only ever called by a person's own code.

        Raises ValueError when there is no such file or its name says it is not audio.
        """
        path = Path(file_path)
        if not path.is_file():
            raise ValueError(f"File not found: {file_path}")
        mime_type, _ = mimetypes.guess_type(file_path)
        if not mime_type or not mime_type.startswith("audio/"):
            raise ValueError(f"Unsupported MIME type for audio: {mime_type}")
        audio_format = mime_type.split("/")[1].removeprefix("x-")
        return cls(data=base64.b64encode(path.read_bytes()).decode(), audio_format=audio_format)

    def __str__(self) -> str:
        return str(self.serialize_model())

    def __repr__(self) -> str:
        return f"Audio(data=<AUDIO_BASE_64_ENCODED({len(self.data)})>, audio_format='{self.audio_format}')"


def encode_audio(audio: object, audio_format: str = "wav") -> dict[str, object]:
    """`data` and `audio_format` of what dspy takes for sound: both in a dict, an Audio, a data URI, or bytes.

    `audio_format` is the format of raw bytes. Raises ValueError for anything else, arrays included (as dspy does
    without soundfile).
    """
    if isinstance(audio, dict) and "data" in audio and "audio_format" in audio:
        return audio
    if isinstance(audio, Audio):
        return {"data": audio.data, "audio_format": audio.audio_format}
    if isinstance(audio, str) and audio.startswith("data:audio/"):
        header, separator, data = audio.partition(",")
        mime_type = header.removeprefix("data:").split(";", 1)[0]
        subtype = mime_type.partition("/")[2]
        if not separator or not subtype:
            raise ValueError("Malformed audio data URI")
        return {"data": data, "audio_format": subtype.removeprefix("x-")}
    if isinstance(audio, str):
        raise ValueError(
            "String audio inputs must be data URIs. "
            "Load local files with Audio.from_path(); nothing is downloaded here."
        )
    if isinstance(audio, bytes):
        return {"data": base64.b64encode(audio).decode(), "audio_format": audio_format}
    raise ValueError(f"Unsupported type for encode_audio: {type(audio)}")


def _carries_own_format(value: object) -> bool:
    if isinstance(value, Audio):
        return True
    if isinstance(value, dict) and "audio_format" in value:
        return True
    return isinstance(value, str) and value.startswith("data:audio/")
