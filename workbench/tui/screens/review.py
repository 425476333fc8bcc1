"""Review drift by cause and decide on each; nothing is written before the screen closes."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from rich.cells import cell_len
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal

from sessions.causes.cause import Cause, FixtureName, fixture_count, verdict_lines
from sessions.checking.verdicts import Drift
from sessions.errors import counted
from workbench.checks.decisions import Decision, Decisions, KeptDecisions, why_not
from workbench.checks.reviewing import Look, Whole
from workbench.output.display import one_line
from workbench.tui.keys import ON_A_REVIEW, keys_of, pane_keys
from workbench.tui.pages import drifts, review_text
from workbench.tui.screens import FrontScreen
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines, plain_notify
from workbench.tui.widgets.text.text_view import MARGIN, Block, Piece, TextView

BESIDE = 100
"""The width in cells from which the list of causes is to the left of the text, else above it."""
MOST_LISTED = 5
"""The number of rows of the list above the text; a list with so few causes is above it at every width."""
MOST_BELOW = 12
"""The number of further fixtures of a cause shown below the current fixture, if there is room."""
PADDING = 2
"""The padding of the line of keys, in cells."""


class Left(NamedTuple):
    """The result of the screen: the decisions, and the fixture to open, if any."""

    decisions: Decisions
    go_to: tuple[Cause, FixtureName] | None = None


class ReviewScreen(FrontScreen[Left]):
    """Review causes; returns the decisions, and the fixture to open, if any.

    `look` returns the drifts of a fixture that show a cause. `of` names what is reviewed, `then` says what leaving the
    review does. The screen writes nothing into a session; it stores each decision in `kept`, for the case of a crash.
    """

    APP_ACTIONS = ON_A_REVIEW
    BINDING_GROUP_TITLE = "Review"
    BINDINGS = pane_keys(
        "Review",
        ("a", "decide('accept')", "Accept", "review.accept", "Accept this cause"),
        ("s", "decide('leave')", "Reject", "review.leave", "Reject this cause: keep its recordings"),
        ("A", "decide_rest('accept')", "Accept all", "review.accept_all", "Accept all but changed verdicts and values"),
        ("S", "decide_rest('leave')", "Reject all", "review.leave_all", "Reject all undecided causes"),
        ("u,ctrl+z", "undo", "Undo", "review.undo", "Undo the last decision"),
        ("right,n", "walk(1)", "Next fixture", "review.next", "Go to the next fixture", True),
        ("left,p", "walk(-1)", "Fixture before", "review.before", "Go to the previous fixture", True),
        ("v", "view(1)", "Old and new", "review.view", "Show by words, side by side, as recorded, or as it is now"),
        ("V", "view(-1)", "Back", "review.view_back", "Go back through the views"),
        ("shift+down,J,pagedown", "scroll_text(1)", "Down", "review.down", "Scroll down"),
        ("shift+up,K,pageup", "scroll_text(-1)", "Up", "review.up", "Scroll up"),
        ("o", "close(True)", "Open there", "review.open", "Open the session at this fixture"),
        ("escape,q,ctrl+q", "close", "Close", "review.close", "Leave and record what is accepted"),
    )

    def __init__(
        self,
        decisions: Decisions,
        look: Look,
        of: str,
        then: str,
        kept: KeptDecisions,
        at: tuple[Cause, FixtureName] | None = None,
    ) -> None:
        """`at` is where a review continues that was left to open a fixture."""
        super().__init__()
        self.decisions = decisions if decisions.can_be_undone else kept.taken_up(decisions)
        self._are_back = self.decisions is not decisions
        self._look = look
        self._of = of
        self._then = then
        self._kept = kept
        self._told: set[str] = set()
        ids = [one.id for one in decisions.causes]
        self._at = ids.index(at[0].id) if at is not None and at[0].id in ids else 0
        fixtures = decisions.causes[self._at].fixtures
        self._fixture = fixtures.index(at[1]) if at is not None and at[1] in fixtures else 0
        self._view: drifts.View = "words"
        self._drifts: tuple[Drift, ...] = ()
        self._whole: Whole | None = None
        self._has_reply_beside = self._is_shortened = self._shows_all = False
        self._below: tuple[tuple[FixtureName, tuple[Drift, ...]], ...] = ()
        """The fixtures after the current fixture, with their drifts."""
        self._head = PlainStatic(id="review-head")
        self._list = TextView(id="review-list")
        self._fixtures = TextView(id="review-fixtures")
        self._text = TextView(id="review-text")
        self._hint = PlainStatic(id="review-hint")

    def compose(self) -> ComposeResult:
        yield self._head
        with Horizontal(id="review-body"):
            yield self._list
            with Horizontal(id="review-at"):
                yield self._fixtures
                yield self._text
        yield self._hint

    def on_mount(self) -> None:
        self._text.can_focus = self._fixtures.can_focus = False
        self._list.focus()
        self._show_cause()
        if self._are_back:
            count = len(self.decisions.causes) - len(self.decisions.open)
            are = "1 decision is back" if count == 1 else f"{count:,} decisions are back"
            undone = keys_of(self.app)("{review.undo|u} takes that back.")
            said = f"{are} from an interrupted review. {undone}"
            plain_notify(self.app, said, title="Decided the last time", timeout=10)

    # -- what is looked at

    @property
    def cause(self) -> Cause:
        return self.decisions.causes[self._at]

    @property
    def fixture(self) -> FixtureName:
        return self.cause.fixtures[self._fixture]

    @property
    def text(self) -> str:
        """The shown text about the fixture."""
        return self._text.plain_text

    def _show_cause(self) -> None:
        """Show the current cause and fixture; drifts of other fixtures than the first are computed in a thread."""
        cause, fixture = self.cause, self.fixture
        self._whole, self._below, self._shows_all = None, (), False
        self._find(cause, fixture)
        self._show()

    @work(group="review", exclusive=True)
    async def _find(self, cause: Cause, fixture: FixtureName) -> None:
        found = cause.example.drift if fixture == cause.fixtures[0] else ()
        if not found or cause.key.kind == "source":  # the check does not report everything about it
            found = await asyncio.to_thread(self._look, cause, fixture)
        if (cause, fixture) != (self.cause, self.fixture):
            return
        whole = await asyncio.to_thread(self._look.whole, fixture)
        if (cause, fixture) != (self.cause, self.fixture):
            return
        self._drifts, self._whole = found, whole
        self._show()
        for following in cause.fixtures[self._fixture + 1 :][:MOST_BELOW]:
            is_full = self._is_shortened or self._text.virtual_size.height >= self._text.page_height
            if is_full or self._fixtures.display:
                return
            more = await asyncio.to_thread(self._look, cause, following)
            if (cause, fixture) != (self.cause, self.fixture):
                return
            self._below = (*self._below, (following, more))
            self._show_text(keep_place=True)

    def _show(self) -> None:
        count, open = len(self.decisions.causes), len(self.decisions.open)
        state = f"{open} to decide" if open else "all decided"
        said = f" · {counted(count, 'cause')}, {state}"
        of = one_line(self._of, max(10, self.size.width - len(said) - 14))
        self._head.show(lines((" Review ", "$text-accent bold"), (of, "bold"), (said, "$foreground 70%")))
        under = self.size.width < BESIDE or len(self.decisions.causes) <= MOST_LISTED
        self.set_class(under, "-under")
        self._fixtures.display = under and self.size.width >= BESIDE
        self._has_reply_beside = False
        listed: list[Block] = []
        for one in self.decisions.causes:
            many, decision = f"  {fixture_count(one.fixtures)}", self.decisions.of(one)
            words = one_line(one.words, self._room_in_list(many) if under else review_text.LONGEST_WORDS)
            style = "note" if decision is not None else "error" if one.changes_verdict else "text"
            listed.append(Block((Piece(words, style), Piece(many, "note")), 0, one.id, review_text.SIGNS[decision]))
        self._list.styles.height = min(MOST_LISTED, len(listed)) + 1 if under else "1fr"
        self._list.show(listed, keep_place=True, current=self.cause.id)
        self._list.show_current()
        if self._fixtures.display:
            # The cause's fixtures, and below them the current fixture's reply if all of it fits
            room = self._fixtures.row_width - MARGIN - 1
            entries = list(review_text.fixture_list(self.cause, self._fixture, self._then, keys_of(self.app), room))
            reply = list(drifts.reply_of(self._whole)) if self._whole is not None else []
            current = f"{review_text.TARGET}{self._fixture}"
            self._fixtures.show([*entries, *reply], keep_place=True, current=current)
            self._has_reply_beside = len(self._fixtures.rows) <= self._fixtures.page_height
            if not self._has_reply_beside:
                self._fixtures.show(entries, keep_place=True, current=current)
            self._fixtures.show_current()
        self._show_text(keep_place=False)
        self._hint.show(lines((self._hints(self.size.width - PADDING), QUIET)))

    def _show_text(self, keep_place: bool) -> None:
        """Show the full text if it fits, else the longest extent that fits, else the shortest."""
        width = self._text.row_width - MARGIN - 1
        if width <= 0:
            return
        looked_at = review_text.LookedAt(
            self.decisions, self.cause, self._fixture, self._drifts, self._whole, self._below
        )
        room_of_name = self._room_in_list(f"  {fixture_count(self.cause.fixtures)}")
        has_name = self.has_class("-under") and cell_len(self.cause.words) < room_of_name

        def made(extent: drifts.Extent = drifts.ALL) -> list[Block]:
            shown = review_text.Shown(self._view, width, extent, not has_name, not self._has_reply_beside)
            return list(review_text.blocks_of(looked_at, shown))

        blocks, page = made(), self._text.page_height
        self._is_shortened = False
        if not (self._shows_all or self._below or self._whole is None) and self._text.count_rows(blocks) > page:
            for extent in drifts.SHORTER:
                blocks = made(extent)
                if self._text.count_rows(blocks) <= page:
                    break
            self._is_shortened = True
        self._text.show(blocks, keep_place=keep_place)

    def _room_in_list(self, many: str) -> int:
        """Return the cells for a cause's name before the count `many`, in the list above the text."""
        return max(20, self._list.row_width - MARGIN - 3 - len(many))

    def _hints(self, room: int) -> str:
        """List the keys that work now, as many as fit into `room` cells, decisions first."""
        keys, accepted = keys_of(self.app), self.decisions.accepted
        hints = [
            "{review.accept|a} accept",
            "{review.leave|s} reject",
            "{review.accept_all|A}/{review.leave_all|S} all",
        ]
        hints += ["{review.undo|u} undo"] if self.decisions.can_be_undone else []
        hints += [f"{{review.close|esc}} {f'{self._then} {len(self.decisions.settled)}' if accepted else 'close'}"]
        hints += ["{review.before|←}{review.next|→} fixtures"] if len(self.cause.fixtures) > 1 else []
        hints += ["{review.view|v} view", "{review.open|o} open"]
        has_more = self._is_shortened or len(self._text.rows) > self._text.page_height
        hints += ["{review.down|J} more"] if has_more else []
        hints += ["↑↓ causes"] if len(self.decisions.causes) > 1 else []
        said = ""
        for hint in map(keys, hints):
            more = f"{said}  {hint}" if said else hint
            if cell_len(more) <= room:
                said = more
        return said

    # -- keys

    def action_decide(self, decision: Decision) -> None:
        """Decide the cause on screen, then go to the next undecided cause."""
        if decision == "accept" and (why := why_not(self.cause)):
            plain_notify(self.app, why, severity="warning")
            return
        self._take(self.decisions.decided([self.cause], decision))
        later = [*self.decisions.causes[self._at + 1 :], *self.decisions.causes[: self._at]]
        following = next((one for one in later if self.decisions.of(one) is None), None)
        if following is None:
            self._show()
        else:
            self._go(self.decisions.causes.index(following))

    def action_decide_rest(self, decision: Decision) -> None:
        rest = self.decisions.rest(decision)
        left_out = self.decisions.left_out if decision == "accept" else ()
        if not rest and not left_out:
            plain_notify(self.app, "No undecided cause left.", severity="warning")
            return
        if rest:
            self._take(self.decisions.decided(rest, decision))
        if left_out:
            lines = verdict_lines(left_out)
            accept = keys_of(self.app)("Look at each reply; {review.accept|a} accepts it.")
            said = "\n".join([*(line.strip() for line in lines), accept])
            plain_notify(self.app, said, title="Not accepted with all", severity="warning", timeout=15)
            self._go(self.decisions.causes.index(left_out[0]))
        else:
            self._show()

    def action_undo(self) -> None:
        if not self.decisions.can_be_undone:
            plain_notify(self.app, "No decision to undo.")
            return
        before = self.decisions
        self._take(before.undone())
        changed = [one for one in before.causes if before.of(one) != self.decisions.of(one)]
        self._go(before.causes.index(changed[0]) if changed else self._at)

    def _take(self, decisions: Decisions) -> None:
        """Take over decisions and store them in case of a crash; report each reason for a failure once."""
        self.decisions = decisions
        why_not = self._kept.keep(decisions)
        if why_not and why_not not in self._told:
            self._told.add(why_not)
            said = f"If the app is killed, these decisions are lost: {why_not}."
            plain_notify(self.app, said, title="Decisions are not kept", severity="warning", timeout=15)

    def action_walk(self, by: int) -> None:
        count = len(self.cause.fixtures)
        if count > 1:
            self._walk_to((self._fixture + by) % count)

    def _walk_to(self, fixture: int) -> None:
        if fixture != self._fixture:
            self._fixture = fixture
            self._show_cause()

    def action_view(self, by: int) -> None:
        self._view = drifts.VIEWS[(drifts.VIEWS.index(self._view) + by) % len(drifts.VIEWS)]
        self._show()

    def action_scroll_text(self, pages: int) -> None:
        is_at_end = self._text.scroll_y >= self._text.max_scroll_y
        if self._is_shortened and is_at_end and pages > 0:
            self._shows_all = True
            self._show_text(keep_place=False)
            return
        self._text.scroll_relative(y=pages * max(1, self._text.page_height - 2), animate=False, force=True)
        self._text.repaint()

    def action_close(self, opens: bool = False) -> None:
        self.dismiss(Left(self.decisions, (self.cause, self.fixture) if opens else None))

    @on(TextView.Moved)
    @on(TextView.Chosen)
    def _moved(self, event: TextView.Moved | TextView.Chosen) -> None:
        if event.target.startswith(review_text.TARGET):
            self._walk_to(int(event.target.removeprefix(review_text.TARGET)))
            return
        ids = [one.id for one in self.decisions.causes]
        if event.target in ids and ids.index(event.target) != self._at:
            self._go(ids.index(event.target))

    def _go(self, index: int) -> None:
        if index != self._at:
            self._at, self._fixture, self._drifts = index, 0, ()
        self._show_cause()
