"""The verdict `source`: does the program that a session was taken from still say what the session says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from adapters.errors import SignatureError
from adapters.signatures.signature import Signature
from sessions.fixtures.verdicts import Drift, FixtureResult, Word
from sessions.model.session import Session, SignatureText
from sessions.source.comparing import differences
from sessions.source.gathering import digest_of, read_gathered
from sessions.source.linking import Follower
from sessions.source.project import SourceError, SourceGoneError


def check_source(session: Session, folder: Path, follower: Follower) -> tuple[Word, tuple[Drift, ...]] | None:
    """The verdict on a session in `folder`; None without a link. `pass`, `drift`, `gone` or `refused`. Never raises."""
    signature = session.signature
    if signature.source is None:
        return None
    try:
        found = follower.follow(signature.source, folder)
        if signature.text == found.text and signature.class_name == found.class_name:
            return "pass", ()
        drift = differences(read_alone(signature), read_gathered(found, signature.source.file))
    except SourceGoneError as error:
        return "gone", (Drift("source", "signature.source", str(error)),)
    except SourceError as error:
        return "refused", (Drift("source", "signature.source", str(error)),)
    except SignatureError as error:
        return "error", (Drift("source", "signature", str(error)),)
    if not drift:
        return "pass", ()
    if digest_of(found.text) == signature.source.digest:
        said = "the session was edited since it was taken from the program; `workbench push` writes that there"
        drift.append(Drift("source", "signature.text", said))
    return "drift", tuple(drift)


def with_source(results: Sequence[FixtureResult], found: tuple[Word, tuple[Drift, ...]] | None) -> list[FixtureResult]:
    """The results of a session's fixtures with the verdict on its source beside the others."""
    if found is None:
        return list(results)
    word, drift = found
    return [replace(one, verdicts={**one.verdicts, "source": word}, drift=(*drift, *one.drift)) for one in results]


def read_alone(signature: SignatureText) -> Signature:
    """What the text says by itself, without what a session puts on top of it. Raises SignatureError."""
    return replace(signature, predictor="Predict", instructions=None).read()
