"""Suggest likely intended replies in XML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from adapters.replies.flags.xml_structure import only_mentions_tags
from adapters.replies.forms import FORMS
from adapters.replies.reading import Reading
from adapters.replies.repairs import Guess, between_tags, opening_tag

BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
HTML_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w{1,30};")
BARE_LESS_THAN = re.compile(r"<(?!/?[A-Za-z_]|!\[CDATA\[)")
XML_SIGNS = {"&": BARE_AMPERSAND, "<": BARE_LESS_THAN, "]]>": re.compile(r"\]\]>")}
CUT_TAG = re.compile(r"(?:<|&lt;)/?[\w.\-]{0,100}\Z")
TAG = re.compile(r"<(/?)([A-Za-z_][\w.\-]{0,100})>")
ANY_OPENING = re.compile(r"<([A-Za-z_][\w.\-]{0,100})(?:\s[^<>]{0,500})?>")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NAMESPACE = re.compile(r"\sxmlns(?::\w{1,50})?=(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}')")


def xml_guesses(reading: Reading) -> Iterator[Guess]:
    """Yield likely intended replies in XML."""
    text, signature = reading.completion, reading.signature
    names = "|".join(map(re.escape, signature.output_fields))
    tags = set(re.findall(rf"</?({names})(?=[\s/>])", text, re.IGNORECASE))
    if not signature.output_fields.keys() >= tags:
        for name in signature.output_fields:
            text = re.sub(rf"<(/?){re.escape(name)}(?=[\s/>])", rf"<\1{name}", text, flags=re.IGNORECASE)
    if text != reading.completion:
        yield Guess("Tags are case-sensitive; with the fields' own names it parses as", text)
    if "<" not in text and "&lt;" in text:
        yield Guess("The tags are written as &lt;name&gt;; as tags they parse as", html.unescape(text))
    clean = text
    if "&" in text:
        clean = BARE_AMPERSAND.sub("&amp;", HTML_ENTITY.sub(lambda match: html.unescape(match.group()), text))
    clean = BARE_LESS_THAN.sub("&lt;", clean).replace("]]>", "]]&gt;")
    if clean != text and "<![CDATA[" not in text:
        signs = [sign for sign, one in XML_SIGNS.items() if one.search(text)]
        yield Guess(f"With {' and '.join(signs)} in the text escaped it parses as", clean)
    plain = clean
    if reading.error is None or reading.error.field is None or "xmlns" in clean or "<?" in clean:
        plain = CONTROL.sub("", re.sub(r"<\?xml[^<>]{0,200}\?>", "", NAMESPACE.sub("", clean)))
    if plain != clean:
        yield Guess("Without declarations, namespaces and control characters it parses as", plain)
    opening = ANY_OPENING.search(plain)
    end = plain.rfind(f"</{opening.group(1)}>") if opening is not None else -1
    inside = "" if opening is None else plain[opening.end() : max(end, 0)].strip()
    if any(f"<{name}" in inside for name in signature.output_fields):
        yield Guess("A tag wraps all the others; without it the reply parses as", inside)
    if only_mentions_tags(plain):
        return
    opened = [name for name in signature.output_fields if f"<{name}>" in plain and f"</{name}>" not in plain]
    if opened:
        plain = CUT_TAG.sub("", plain)
        last = opened[-1]
        inside = plain.rpartition(f"<{last}>")[2]
        is_text = signature.output_fields[last].annotation is str or not inside.lstrip().startswith("<")
        ends = [*([] if is_text else _inner_ends(inside)), *(f"</{name}>" for name in reversed(opened))]
        yield Guess(f"<{last}> is never closed; closed at the end it parses as", plain + "".join(ends))
    closings = [plain.rfind(f"</{name}>") for name in reading.fields]
    again = ANY_OPENING.search(plain, max(closings)) if min(closings, default=-1) >= 0 else None
    if again is not None and f"</{again[1]}>" not in plain[again.end() :]:
        said = f"<{again[1]}> begins again after all outputs and is never closed; without what follows them"
        yield Guess(f"{said} the reply parses as", plain[: plain.find(">", max(closings)) + 1])
    not_read = [name for name, one in reading.fields.items() if one.state != "read"]
    if plain == reading.completion and plain.isascii():
        not_read = [name for name in not_read if name in tags]
    if any(opening_tag(name).search(plain) for name in not_read):
        texts = between_tags(plain, signature)
        kept = "\n".join(
            f"<{name}>{FORMS['xml'].of_text(html.unescape(inside))}</{name}>" for name, inside in texts.items()
        )
        yield Guess("With the text between the fields' tags taken as plain text it parses as", kept)


def _inner_ends(text: str) -> list[str]:
    """Return the ends of the tags that a text opens and does not close, such as the last item of a list."""
    names: list[str] = []
    for end, name in TAG.findall(text):
        if not end:
            names.append(name)
        elif name in names:
            del names[len(names) - 1 - names[::-1].index(name) :]
    return [f"</{name}>" for name in reversed(names)]
