"""The gate keeps lengths and offsets, lets no control character through, and hides nothing."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.output.display import cell_width, one_line, safe, short_name, stand_ins

ANY_TEXT = st.text(st.characters(codec=None, categories=None) | st.sampled_from([chr(code) for code in stand_ins()]))


def is_control(character: str) -> bool:
    return character not in "\n\t" and unicodedata.category(character) in ("Cc", "Cs")


@given(ANY_TEXT)
def test_every_offset_stays(text: str) -> None:
    shown = safe(text)
    assert len(shown) == len(text)
    assert all(after == before or ord(before) in stand_ins() for before, after in zip(text, shown, strict=True))


@given(ANY_TEXT)
def test_no_control_character_passes(text: str) -> None:
    assert not any(is_control(character) for character in safe(text))
    safe(text).encode()


@given(ANY_TEXT)
def test_a_second_pass_changes_nothing(text: str) -> None:
    assert safe(safe(text)) == safe(text)


@given(ANY_TEXT, st.integers(0, 40))
def test_one_line_fits_its_width(text: str, width: int) -> None:
    line = one_line(text, width)
    assert cell_width(line) <= width
    assert not any(is_control(character) or character in "\n\t" for character in line)


def test_harmless_text_needs_no_stand_ins() -> None:
    stand_ins.cache_clear()
    assert safe("naïve ⇒ plain") == "naïve ⇒ plain"
    assert stand_ins.cache_info().currsize == 0


def test_each_character_that_directs_the_terminal_or_hides_is_replaced_by_one_cell() -> None:
    assert all(len(stand_in) == 1 and cell_width(stand_in) == 1 for stand_in in stand_ins().values())
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)) in ("Cc", "Cs") or unicodedata.bidirectional(chr(code)) in (
            *("LRE", "RLE", "LRO", "RLO", "PDF"),
            *("LRI", "RLI", "FSI", "PDI"),
        ):
            assert code in (9, 10) or code in stand_ins(), hex(code)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", "a␛[2Jb"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x9b31m", "\ufffd31m"),
        ("a\r\nb", "a␍\nb"),
        ("a\u2028b\u2029c\x85d", "a␤b␤c␤d"),
        ("\ud83d", "\ufffd"),
        ("\u202eevil", "\ufffdevil"),
        ("\ufeffa\u200bb", "⁞a⁞b"),
        ("\x00\x7f", "␀␡"),
        ("ab\U000e0041c", "ab⁞c"),
        ("👩\u200d👧 日本 e\u0301", "👩⁞👧 日本 e\u0301"),
        ("[/x] [INST] [@click=app.exit]", "[/x] [INST] [@click=app.exit]"),
    ],
)
def test_the_hostile_table(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_clean_text_is_the_same_object() -> None:
    text = "plain text\nwith a tab\t" * 3
    assert safe(text) is text


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("short", 10, "short"),
        ("just fits", 9, "just fits"),
        ("does not fit", 9, "does not…"),
        ("two\nlines\tand", 20, "two↵lines and"),
        ("日本語", 6, "日本語"),
        ("日本語です", 6, "日本…"),
        ("日本語です", 5, "日本…"),
        ("x" * 10_000_000, 5, "xxxx…"),
        ("", 5, ""),
        ("anything", 0, ""),
    ],
)
def test_one_line(text: str, width: int, line: str) -> None:
    assert one_line(text, width) == line


@pytest.mark.parametrize(
    ("name", "width", "shown"),
    [
        ("answer", 12, "answer"),
        ("extracted_classification_07", 18, "extracte…cation_07"),
        ("extracted_classification_07", 8, "extract…"),
        ("分类分类分类分类分类_07", 13, "分类分…类_07"),
        ("aaaaaaaaaaaa\nb\tc", 12, "aaaaa…aa↵b c"),
        ("aaaaaaaaaaaae\u0301bcdef", 12, "aaaaaa…bcdef"),
    ],
)
def test_a_long_name_keeps_its_end(name: str, width: int, shown: str) -> None:
    assert short_name(name, width) == shown and cell_width(shown) <= width
