"""All exports for the command line and the app, with errors as `CommandError`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Unpack

from adapters.errors import SignatureError
from adapters.values.custom_types import BuildError
from sessions.exports import formats
from sessions.exports.exported import Exported, ExportError, SourceOptions
from sessions.model.session import Case, Column, Session
from sessions.model.variants import VariantError
from workbench.output.exit_codes import CommandError

PAGE = formats.Format(
    "page",
    "page for a browser",
    "a handout: an HTML file with prompts, replies and lesson to try out",
    "lesson.html",
    "all",
    "workbench.exporting.session_page:page_of",
)
LESSON = formats.Format(
    "lesson",
    "lesson for a browser",
    "the page, opened on the first step of its lesson",
    "lesson.html",
    "all",
    "workbench.exporting.session_page:lesson_of",
)
FORMS: Mapping[str, formats.Format] = MappingProxyType({**formats.FORMATS, PAGE.name: PAGE, LESSON.name: LESSON})
"""The formats in the order of menus: those of `sessions.exports`, and the page, which uses the lesson's texts."""


def export(
    form: str,
    session: Session,
    columns: Sequence[Column],
    cases: Sequence[Case],
    *,
    names_flags: bool = True,
    **options: Unpack[SourceOptions],
) -> Exported:
    """Export the session as `form`, a name of `FORMS`.

    Raises `CommandError` if the format cannot hold the session, naming a flag that helps if `names_flags`.
    """
    try:
        return FORMS[form].export(session, columns, cases, **options)
    except SignatureError as error:
        raise CommandError(f"the signature, {error}") from error
    except ExportError as error:
        raise CommandError(f"{error} ({error.flag})" if error.flag and names_flags else str(error)) from error
    except (VariantError, BuildError) as error:
        raise CommandError(str(error)) from error
