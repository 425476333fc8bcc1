"""Show the teacher the join address and the participants, as a page and in the terminal."""

from __future__ import annotations

import io
from html import escape

from aiohttp import web

from workbench.serving.doors import BOARD, page
from workbench.serving.seats import Seat, Seats

ORDERS = (
    "type `who` for a list of participants, `kick N` to remove participant N, `code` for a new code, `close` to admit "
    "no more participants, `open` to admit them again; ctrl+c ends the class"
)
LINK = f'<a id="board" href="{BOARD}" target="class">Class: code, participants</a>'
REFRESH_S = 5
"""Seconds between reloads of the page."""


def where(seat: Seat) -> str:
    """Describe a participant's position: `step 3 of 12: Demos`, `panes` or `away`."""
    if not seat.is_here:
        return "away"
    steps, at = seat.shown.steps, seat.shown.step
    return f"step {at + 1} of {len(steps)}: {steps[at]}" if steps else "panes"


def _rows(seats: Seats) -> list[tuple[int, str, str, str]]:
    """Return number, name, position and `follows` or "" of each participant."""
    participants = [one for one in seats.all if not one.leads]
    return [(one.number, one.called or "–", where(one), "follows" * one.shown.follows) for one in participants]


def listed(seats: Seats) -> str:
    """List the participants for the terminal."""
    lines = [f"  {number:>3}  {name:<24} {at:<32} {follows}".rstrip() for number, name, at, follows in _rows(seats)]
    return "\n".join(lines) or "nobody has joined yet"


def board(seats: Seats, url: str, address: str) -> web.Response:
    """Make the teacher's page of the class, which reloads itself without JavaScript."""
    import segno

    code = segno.make_qr(address).svg_inline(border=2, dark="#000", light="#fff", omitsize=True, svgclass="qr")
    admits = (
        ("open", "Open to newcomers") if seats.is_closed else ("close", "Close to newcomers"),
        ("code", "New code"),
    )
    rows = ""
    for one in _rows(seats):
        cells = [*(escape(str(cell)) for cell in one), _button(f"kick {one[0]}", "Remove")]
        rows += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    form = (
        f'<div class="board"><div>{code}</div><div>Address<strong>{escape(url)}</strong>'
        f'Code<strong class="code">{escape(seats.code)}</strong>'
        f"{''.join(_button(*one) for one in admits)}"
        f"<h2>{seats.taken} of {seats.most} seats taken</h2><table>{rows}</table></div></div>"
    )
    said = (
        "The class is closed to newcomers."
        if seats.is_closed
        else "Scan the QR code, or open the address and type the code."
    )
    response = page("Join the class", said, form)
    response.headers["Refresh"] = str(REFRESH_S)
    return response


def qr_lines(address: str) -> str:
    """Draw the QR code of an address with half blocks, two rows per line; light squares are filled."""
    import segno

    drawn = io.StringIO()
    segno.make_qr(address).terminal(drawn, border=2, compact=True)
    return drawn.getvalue().rstrip("\n")


def _button(order: str, words: str) -> str:
    return (
        f'<form method="post" action="{BOARD}"><input type="hidden" name="order" value="{escape(order)}">'
        f'<button type="submit">{escape(words)}</button></form>'
    )
