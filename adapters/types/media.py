"""`Audio`, `File` and `Image`: data as base64, a URL or a provider's id. URLs are not fetched, arrays not encoded."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pydantic

from adapters.types.base import SCHEMA_TEXTS, Type


class _Media(Type):
    # The base of the three types.
    def __str__(self) -> str:
        return str(self.serialize_model())


class Audio(_Media):
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
            carries_format = (
                isinstance(value, Audio)
                or (isinstance(value, dict) and "audio_format" in value)
                or (isinstance(value, str) and value.startswith("data:audio/"))
            )
            if audio_format is not None and carries_format:
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
        return encode_audio(values)

    @classmethod
    def from_path(cls, file_path: str) -> Audio:
        """Read a local audio file; only called by users' own code.

        Raises ValueError if there is no such file or its name is not that of an audio file.
        """
        path = Path(file_path)
        if not path.is_file():
            raise ValueError(f"File not found: {file_path}")
        mime_type, _ = mimetypes.guess_type(file_path)
        if not mime_type or not mime_type.startswith("audio/"):
            raise ValueError(f"Unsupported MIME type for audio: {mime_type}")
        audio_format = mime_type.split("/")[1].removeprefix("x-")
        return cls(data=base64.b64encode(path.read_bytes()).decode(), audio_format=audio_format)

    def __repr__(self) -> str:
        return f"Audio(data=<AUDIO_BASE_64_ENCODED({len(self.data)})>, audio_format='{self.audio_format}')"


def encode_audio(audio: object, audio_format: str = "wav") -> dict[str, object]:
    """Return `data` and `audio_format` of a dict with both, an Audio, a data URI, or bytes, as dspy accepts.

    The argument `audio_format` is the format of bytes. Raises ValueError for other values, including arrays (as dspy
    does without soundfile).
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


KEYS = ("file_data", "file_id", "filename")


class File(_Media):
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
        """Read a local file; only called by users' own code. Raises ValueError if there is no such file."""
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
        """Refer to a file that was uploaded to the provider."""
        return cls(file_id=file_id, filename=filename)


def encode_file_to_dict(file_input: object) -> dict[str, object]:
    """Return the fields of a File, a dict of its fields, a data URI, or bytes, as dspy accepts.

    Raises ValueError for other values.
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


UNSET = object()


class Image(_Media):
    # No docstring: dspy's Image has none, and a docstring would become part of the JSON schema.
    url: str

    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True, validate_assignment=True, extra="forbid")

    def __init__(
        self, source: object = None, /, *, download: object = UNSET, verify: object = UNSET, **data: object
    ) -> None:
        if (download is not UNSET or verify is not UNSET) and source is None:
            # Pydantic passes a reply's keys to this constructor; for {"download": true}, dspy raises TypeError.
            raise TypeError(
                "`download` and `verify` are only valid with a positional image source; "
                "use Image.from_url(url, verify=...) to download a remote image."
            )
        if source is not None and "url" in data:
            raise TypeError("Image received both `source` and `url`; provide only one image source")
        if source is not None:
            data["url"] = source["url"] if isinstance(source, dict) and set(source) == {"url"} else source
        url = data.get("url")
        if download is not UNSET and download and isinstance(url, str) and _has_scheme(url, ("http", "https")):
            raise ValueError(
                f"an image is never downloaded here: {url}. Leave out `download` to hand the URL to the model, "
                "or give the picture itself as a data URI or with Image.from_path()."
            )
        if "url" in data:
            data["url"] = encode_image(data["url"])
        super().__init__(**data)

    def format(self) -> list[dict[str, object]]:
        try:
            url = encode_image(self.url)
        except Exception as error:  # dspy converts every error to this
            raise ValueError(f"Failed to format image for DSPy: {error}") from error
        return [{"type": "image_url", "image_url": {"url": url}}]

    @classmethod
    def from_path(cls, file_path: str) -> Image:
        """Read a local image file as a data URI; only called by users' own code.

        Raises ValueError if there is no such file or its name has no known MIME type.
        """
        path = Path(file_path)
        if not path.is_file():
            raise ValueError(f"File not found: {file_path}")
        mime_type, _ = mimetypes.guess_type(file_path)
        if mime_type is None:
            raise ValueError(f"Could not determine MIME type for file: {file_path}")
        return cls(f"data:{mime_type};base64,{base64.b64encode(path.read_bytes()).decode()}")

    def __repr__(self) -> str:
        if "base64" in self.url:
            length = len(self.url.split("base64,")[1])
            image_type = self.url.split(";")[0].split("/")[-1]
            return f"Image(url=data:image/{image_type};base64,<IMAGE_BASE_64_ENCODED({length!s})>)"
        return f"Image(url='{self.url}')"


def encode_image(image: object) -> str:
    """Return the URL or data URI of an image: of that text, {"url": …}, or an Image, as dspy accepts.

    Raises ValueError for other values, and ImportError for bytes, as dspy does without Pillow.
    """
    if isinstance(image, dict) and "url" in image:
        return encode_image(image["url"])
    if isinstance(image, str):
        if image.startswith("data:") or _has_scheme(image, ("http", "https", "gs")):
            return image
        raise ValueError(f"Unrecognized image string: {image}. Local files must be loaded with Image.from_path().")
    if isinstance(image, bytes):
        raise ImportError("image bytes need Pillow, which is not used here; give a data URI or use Image.from_path()")
    if isinstance(image, Image):
        return image.url
    raise ValueError(f"Unsupported image type: {type(image)}")


def _has_scheme(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parsed = urlparse(text)
    except ValueError:
        return False
    return parsed.scheme in schemes and bool(parsed.netloc)
