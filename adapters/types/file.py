"""`File`: a document as a data URI, or by the id that the provider gave it."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path

import pydantic

from adapters.types.base import Type
from adapters.types.schema_texts import SCHEMA_TEXTS

KEYS = ("file_data", "file_id", "filename")


class File(Type):
    __doc__ = SCHEMA_TEXTS["File"]

    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None

    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True, validate_assignment=True, extra="forbid")

    def __init__(self, *args: object, **data: object) -> None:
        if len(args) > 1:
            raise TypeError(f"File expected at most 1 positional argument, received {len(args)}")
        if args:
            normalized = encode_file_to_dict(args[0])
            overlap = sorted(set(normalized) & set(data))
            if overlap:
                raise TypeError(
                    f"File received {', '.join(overlap)} from both the positional source and keyword arguments"
                )
            data = {**normalized, **data}
        super().__init__(**data)

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, values: object) -> object:
        if isinstance(values, cls):
            return {key: getattr(values, key) for key in KEYS}
        return encode_file_to_dict(values)

    def format(self) -> list[dict[str, object]]:
        given = {key: getattr(self, key) for key in KEYS}
        return [{"type": "file", "file": {key: value for key, value in given.items() if value}}]

    def __str__(self) -> str:
        return str(self.serialize_model())

    def __repr__(self) -> str:
        parts = []
        if self.file_data is not None:
            if self.file_data.startswith("data:"):
                mime_type = self.file_data.split(";")[0].split(":")[1]
                data = self.file_data.split("base64,")[1] if "base64," in self.file_data else self.file_data
                parts.append(f"file_data=<DATA_URI({mime_type}, {len(data)} chars)>")
            else:
                parts.append(f"file_data=<DATA({len(self.file_data)} chars)>")
        if self.file_id is not None:
            parts.append(f"file_id='{self.file_id}'")
        if self.filename is not None:
            parts.append(f"filename='{self.filename}'")
        return f"File({', '.join(parts)})"

    @classmethod
    def from_path(cls, file_path: str, filename: str | None = None, mime_type: str | None = None) -> File:
        """The content of a local file; called by a person's own code alone. ValueError when there is none."""
        path = Path(file_path)
        if not path.is_file():
            raise ValueError(f"File not found: {file_path}")
        mime_type = mime_type or mimetypes.guess_type(file_path)[0] or "application/octet-stream"
        return cls.from_bytes(path.read_bytes(), path.name if filename is None else filename, mime_type)

    @classmethod
    def from_bytes(
        cls, file_bytes: bytes, filename: str | None = None, mime_type: str = "application/octet-stream"
    ) -> File:
        data = base64.b64encode(file_bytes).decode()
        return cls(file_data=f"data:{mime_type};base64,{data}", filename=filename)

    @classmethod
    def from_file_id(cls, file_id: str, filename: str | None = None) -> File:
        """A file that was uploaded to the provider before."""
        return cls(file_id=file_id, filename=filename)


def encode_file_to_dict(file_input: object) -> dict[str, object]:
    """The fields of a file, from a File, a dict of its fields, a data URI, or bytes, as dspy accepts.

    Raises ValueError for anything else.
    """
    if isinstance(file_input, File):
        given = {key: getattr(file_input, key) for key in KEYS}
        return {key: value for key, value in given.items() if value is not None}
    if isinstance(file_input, dict):
        if any(key in file_input for key in KEYS):
            return file_input
        raise ValueError("Value of `dspy.File` must contain at least one of: file_data, file_id, or filename")
    if isinstance(file_input, str):
        if file_input.startswith("data:"):
            return {"file_data": file_input}
        raise ValueError(
            f"String file inputs must be data URIs, received: {file_input}. Load local files with File.from_path()."
        )
    if isinstance(file_input, bytes):
        return {"file_data": File.from_bytes(file_input).file_data}
    raise ValueError(f"Unsupported file input type: {type(file_input)}")
