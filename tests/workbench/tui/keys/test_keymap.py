"""Every key has a name by which it can be changed, and a keymap that makes no sense says why."""

import pytest

from workbench.tui.keys import every_binding, problems, usable


def test_every_binding_has_an_id_a_tooltip_and_a_group() -> None:
    bare = [
        (one.owner, one.binding)
        for one in every_binding()
        if not (one.binding.id and one.binding.tooltip and one.binding.group and one.binding.group.description)
    ]
    assert bare == []


def test_an_id_means_one_thing_in_one_place() -> None:
    ids = [(one.owner, one.binding.id) for one in every_binding()]
    assert sorted(ids) == sorted(set(ids))


def test_no_key_of_the_app_is_given_twice() -> None:
    keys = [key for one in every_binding() if not one.owner for key in one.binding.key.split(",")]
    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize(
    ("keymap", "said"),
    [
        ({"app.sav": "f5"}, "there is no key binding 'app.sav'; did you mean app.save?"),
        ({"app.save": "f1"}, "f1 is given to app.save and app.help: only one of them can have it"),
        ({"app.save": "ctrl+n"}, "ctrl+n of app.save works everywhere, so rows.add cannot use it"),
        ({"[/x]\x1b": "f5"}, "there is no key binding '[/x]\\x1b'"),
    ],
)
def test_what_is_wrong_with_a_keymap_is_said(keymap: dict[str, str], said: str) -> None:
    assert said in problems(keymap)


def test_a_keymap_in_order_is_silent_and_taken() -> None:
    keymap = {"app.save": "ctrl+w", "app.help": "f1,f24", "nothing": "f1"}
    assert problems({"app.save": "ctrl+w", "app.help": "f1,f24"}) == ()
    assert usable(keymap) == {"app.save": "ctrl+w", "app.help": "f1,f24"}
