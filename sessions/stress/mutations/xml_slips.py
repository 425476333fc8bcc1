"""XML as models write it, who think of HTML."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from sessions.stress.forms import FieldText
from sessions.stress.good_replies import GoodReply
from sessions.stress.mutation import Mutation, grouped


def each_field(change: Callable[[FieldText], str]) -> Callable[[GoodReply], str | None]:
    """Every field written by `change`, in XML alone."""

    def made(good: GoodReply) -> str | None:
        return good.form.whole([change(one) for one in good.fields]) if _is_xml(good) and good.form else None

    return made


def last_field(change: Callable[[FieldText], str]) -> Callable[[GoodReply], str | None]:
    """The last field written by `change`, in XML alone."""

    def made(good: GoodReply) -> str | None:
        form = good.form
        if form is None or not _is_xml(good):
            return None
        *before, last = good.fields
        return form.whole([*[form.named(one.name, one.text, form.is_nested(one)) for one in before], change(last)])

    return made


def _is_xml(good: GoodReply) -> bool:
    return good.form is not None and good.form.kind == "xml" and bool(good.fields)


def in_cdata(good: GoodReply) -> str | None:
    """Texts in CDATA, unescaped as it is meant."""
    if not _is_xml(good):
        return None
    fields = [replace(one, text=f"<![CDATA[{one.value}]]>") if one.is_text else one for one in good.fields]
    return None if fields == [*good.fields] else good.write(fields)


def declared(good: GoodReply) -> str | None:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{good.text}' if _is_xml(good) else None


def commented(good: GoodReply) -> str | None:
    return f"<!-- the fields that were asked for -->\n{good.text}" if _is_xml(good) else None


def line_break_tags(good: GoodReply) -> str | None:
    """`<br>` behind the first sentence of each text that has more than one."""
    if not _is_xml(good):
        return None
    fields = [
        replace(one, text=re.sub(r"(?<=[.!?]) ", "<br>", one.text, count=1)) if one.is_text else one
        for one in good.fields
    ]
    return None if fields == [*good.fields] else good.write(fields)


XML_SLIPS = grouped(
    "XML",
    Mutation("CDATA", "models wrap texts in CDATA to be safe", in_cdata),
    Mutation("an XML declaration", "a document begins with <?xml …?>", declared),
    Mutation("an XML comment", "models explain themselves within the document", commented),
    Mutation("<br> in a text", "HTML's line break, which is not closed", line_break_tags),
    Mutation(
        "attributes on the tags",
        'type="…" as in a schema',
        each_field(lambda one: f'<{one.name} type="output">{one.text}</{one.name}>'),
    ),
    Mutation(
        "spaces in the tags", "< name > as in prose", each_field(lambda one: f"< {one.name} >{one.text}</ {one.name} >")
    ),
    Mutation(
        "the same tag inside",
        "the tag once more around the value",
        last_field(lambda one: f"<{one.name}><{one.name}>{one.text}</{one.name}></{one.name}>"),
    ),
    Mutation("a self-closed tag", "a field without a value as one tag", last_field(lambda one: f"<{one.name}/>")),
    Mutation(
        "the last tag not closed",
        "the model stops after the last value",
        last_field(lambda one: f"<{one.name}>\n{one.text}"),
    ),
    Mutation(
        "closed by another name",
        "</output> closes whatever is open",
        last_field(lambda one: f"<{one.name}>\n{one.text}\n</output>"),
    ),
    Mutation(
        "closed by an opening tag",
        "the slash is forgotten",
        last_field(lambda one: f"<{one.name}>\n{one.text}\n<{one.name}>"),
    ),
    Mutation(
        "a namespace on the tags",
        "prefixes as in an enterprise's XML",
        each_field(lambda one: f"<out:{one.name}>{one.text}</out:{one.name}>"),
    ),
)
