"""What a room reads first stands in the largest letters that fit, and nothing of it is lost where none do."""

from textual.content import Content
from textual.geometry import Region
from textual.pilot import Pilot

from tests.support.screen import Stage, assert_harmless, on_stage
from workbench.tui.widgets.heading import Heading, Mark, drawn

READ = Mark("✓", "4/4", "success")
REFUSED = Mark("✗", "line 12: & not escaped", "error")


def rows_of(*shown: tuple[str, Mark | None], size: tuple[int, int] = (80, 24)) -> list[list[str]]:
    """What is painted of each title and mark in turn, row by row."""
    heading = Heading()
    heading.styles.display = "block"
    found: list[list[str]] = []

    async def act(stage: Stage[Heading], pilot: Pilot[None]) -> None:
        for title, mark in shown:
            heading.show(title, mark, Content("its reply"))
            await pilot.pause()
            whole = Region(0, 0, *heading.outer_size)
            found.append([one.text.strip() for one in heading.render_lines(whole)])
            assert_harmless(heading)

    on_stage(heading, act, size)
    return found


def test_a_title_and_its_mark_are_drawn_and_what_is_not_drawn_is_written() -> None:
    read, refused = rows_of(("Chat", READ), ("Chat", REFUSED))
    (*large, below) = read
    assert large == [
        f"{left}{right.rjust(76 - len(left))}".strip()
        for left, right in zip(drawn("Chat", 80), drawn("✓ 4/4", 80), strict=True)
    ]
    assert below == "its reply"
    assert len(refused) == 4
    assert refused[-1] == "line 12: & not escaped   its reply"


def test_a_high_screen_has_letters_of_twice_the_size() -> None:
    ((*large, blank, below),) = rows_of(("Chat", READ), size=(120, 35))
    assert len(large) == 5
    assert large[0].startswith(drawn("Chat", 116, scale=2)[0].strip())
    assert (blank, below) == ("", "its reply")


def test_what_cannot_be_drawn_is_written_whole() -> None:
    japanese, long, hostile = rows_of(
        ("日本語", READ),
        ("Turn 12 of the conversation", REFUSED),
        ("[/x]\x1b[31m\n\ud800", Mark("✗", "a\nb [/y]", "error")),
    )
    assert japanese[0].startswith("日本語")
    assert japanese[0].endswith("✓ 4/4")
    assert len(japanese) == 2
    assert long[0].startswith("Turn 12 of the conversation")
    assert long[0].endswith("✗ line 12: & not escaped")
    assert hostile[0].startswith("[/x]␛[31m↵")
    assert hostile[0].endswith("✗ a↵b [/y]")
