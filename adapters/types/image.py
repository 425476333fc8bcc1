"""`Image`: a picture as a URL or a data URI. Nothing is fetched."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from urllib.parse import urlparse

import pydantic

from adapters.types.base import Type

UNSET = object()


class Image(Type):
    # No docstring: dspy's Image has none, and a docstring would become part of the JSON schema.
    url: str

    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True, validate_assignment=True, extra="forbid")

    def __init__(
        self, source: object = None, /, *, download: object = UNSET, verify: object = UNSET, **data: object
    ) -> None:
        if (download is not UNSET or verify is not UNSET) and source is None:
            # Pydantic hands a reply's keys to this constructor, and dspy answers {"download": true} with TypeError.
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
        except Exception as error:  # whatever a user's file or address does becomes dspy's own error
            raise ValueError(f"Failed to format image for DSPy: {error}") from error
        return [{"type": "image_url", "image_url": {"url": url}}]

    @classmethod
    def from_path(cls, file_path: str) -> Image:
        """The picture in a local file as a data URI; only ever called by a person's own code.

        Raises ValueError when there is no such file or its name says no MIME type.
        """
        path = Path(file_path)
        if not path.is_file():
            raise ValueError(f"File not found: {file_path}")
        mime_type, _ = mimetypes.guess_type(file_path)
        if mime_type is None:
            raise ValueError(f"Could not determine MIME type for file: {file_path}")
        return cls(f"data:{mime_type};base64,{base64.b64encode(path.read_bytes()).decode()}")

    def __str__(self) -> str:
        return str(self.serialize_model())

    def __repr__(self) -> str:
        if "base64" in self.url:
            length = len(self.url.split("base64,")[1])
            image_type = self.url.split(";")[0].split("/")[-1]
            return f"Image(url=data:image/{image_type};base64,<IMAGE_BASE_64_ENCODED({length!s})>)"
        return f"Image(url='{self.url}')"


def encode_image(image: object) -> str:
    """The URL or data URI of what dspy takes for an image: either of these as text, {"url": …}, or an Image.

    Raises ValueError for anything else, and ImportError for raw bytes, as dspy does without Pillow.
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
