"""Look up and apply styles in less time than Textual, with the same result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any, cast
from weakref import WeakSet

from textual.color import Color
from textual.css.model import RuleSet, SelectorType
from textual.css.styles import RulesMap
from textual.css.stylesheet import CssSource, Stylesheet
from textual.dom import DOMNode
from textual.widget import Widget

MOST_PLACES = 4096
"""The number of places whose styles are remembered; a session has a few hundred."""
_MARKS = {SelectorType.CLASS: ".", SelectorType.ID: "#"}


class KeptStyles(Stylesheet):
    """A stylesheet for one theme, applied to a new screen only when that is shown.

    Textual parses it at every start and change of theme, and looks up the styles of every part of a widget each time.
    """

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self.variables = variables
        self.before: KeptStyles | None = None
        self._parsed: dict[Any, CssSource] = {}
        self._states: dict[str, set[str]] = {}
        self._states_of: dict[tuple[Any, ...], frozenset[str]] = {}
        self._numbers: dict[DOMNode, int] = {}
        """The places of nodes that are updated together, empty before the first of them."""
        self._updates_many = False
        self._repainted: set[DOMNode] = set()
        """Nodes that are repainted with all that is in them by the current update."""
        self._changed_unseen: WeakSet[DOMNode] = WeakSet()
        """Nodes of screens that have not been shown, whose styles may differ from those at their mount."""
        self._next_number = count()
        self._places: dict[tuple[Any, ...], int] = {}
        self._of_parts: dict[tuple[int, frozenset[str]], RulesMap] = {}
        self._of_widgets: dict[int, RulesMap] = {}

    def set_variables(self, variables: dict[str, str]) -> None:
        """Keep the variables, which never change."""

    def with_variables(self, variables: dict[str, str]) -> KeptStyles:
        """Return this stylesheet, the one before it or a new one, for a theme with these variables."""
        if variables == self.variables:
            return self
        before, self.before = self.before, None
        other = before if before is not None and before.variables == variables else KeptStyles(variables)
        other.source = self.source
        other.before = self
        return other

    def parse(self) -> None:
        super().parse()
        self._parsed = dict(self.source)
        self._states = defaultdict(set)
        self._forget()
        for one in self.rules:
            one.__class__ = _HashedByIdentity
            for selector in [part for path in one.selector_set for part in path.selectors]:
                self._states[_MARKS.get(selector.type, "") + selector.name] |= selector.pseudo_classes

    def reparse(self) -> None:
        if self.source != self._parsed:
            self.parse()

    def update_nodes(self, nodes: Iterable[DOMNode], animate: bool = False) -> None:
        """Update the styles of nodes; before their screen is shown, only remember that they changed.

        Textual takes the focus from each widget that it removes when an app ends, and styles all around it again.
        """
        nodes = list(nodes)
        one = next(iter(nodes), None)
        if isinstance(one, Widget) and not one.app.is_running:
            return
        if not isinstance(one, Widget) or (one.is_attached and one.screen.stack_updates):
            self._numbers, self._updates_many = {}, True
            try:
                super().update_nodes(nodes, animate)
            finally:
                self._updates_many = False
                self._repainted.clear()
        elif one.is_attached:
            self._changed_unseen.update(nodes)

    def update_unseen(self, screen: DOMNode) -> None:
        """Update the nodes of a screen that changed since they were mounted, when it is first shown.

        Textual styles a widget when it is mounted, and all widgets of a screen again when the screen is first shown.
        """
        changed = [one for one in screen.walk_children(with_self=True) if one in self._changed_unseen]
        self._changed_unseen.difference_update(changed)  # another screen may not have been shown yet
        self.update_nodes(changed)

    def apply(
        self, node: DOMNode, *, animate: bool = False, cache: dict[tuple[Any, ...], RulesMap] | None = None
    ) -> None:
        """Apply the styles to a widget, or to a node that stands for a part of a widget."""
        if type(node) is not DOMNode or node.parent is None:
            if not self._updates_many:  # since the last update anything may have changed, as before a mount
                self._numbers = {}
            place = self._place(node)
            known_rules = self._of_widgets.get(place)
            kept: dict[Any, RulesMap] = {} if known_rules is None else _SameRules(known_rules)
            super().apply(node, animate=animate, cache=kept)
            if len(kept) == 1 and known_rules is None:
                self._of_widgets[place] = cast(RulesMap, _Read(node.styles.base.get_rules()))
            return
        key = (self._place(node.parent), node.classes)
        known = self._of_parts.get(key)
        if known is None:
            super().apply(node)
            self._of_parts[key] = node.styles.base.get_rules()
        else:
            node.styles.base.merge_rules(known)

    def replace_rules(  # type: ignore[override]
        self, node: DOMNode, rules: RulesMap, animate: bool = False
    ) -> None:
        """Replace the rules of a node; new colors repaint it and what is in it once, instead of once each.

        Without transitions nothing can be animated, which Textual finds out from every rule.
        """
        if animate and "transitions" in rules:
            super().replace_rules(node, rules, animate)
            return
        base = node.styles.base
        before, after = dict(base.get_rules()), dict(rules)
        if not before and isinstance(rules, _Read):  # a new node, of which nothing is laid out or painted
            base.merge_rules(cast(RulesMap, after))
            node.notify_style_update()
            return
        changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        colors = [name for name in changed if isinstance(after.get(name) or before.get(name), Color)]
        for name in colors:
            base.set_rule(name, after.get(name))
        parent = node.parent
        is_repainted = parent is not None and parent in self._repainted and node in parent.children  # no scroll bar
        if colors and not is_repainted:
            base.refresh(children=True)
        if self._updates_many and (colors or is_repainted):
            self._repainted.add(node)
        bars = [name for name in colors if name.startswith("scrollbar")][:1]  # setting one repaints the bars
        for name in [*bars, *[name for name in changed if name not in colors]]:
            setattr(base, name, after.get(name))
        node.notify_style_update()

    def _place(self, node: DOMNode) -> int:
        """Return a number for all that selectors ask of a node and of the nodes around it."""
        if (known := self._numbers.get(node)) is not None:
            return known
        around = self._place(node.parent) if node.parent is not None else -1
        look = (type(node), node.id, node.classes)
        if look not in self._states_of:
            names = [*[one.__name__ for one in type(node).__mro__], *[f".{one}" for one in node.classes], f"#{node.id}"]
            states = [self._states[one] for one in (*names, "*") if one in self._states]
            self._states_of[look] = frozenset().union(*states)
        place = (around, *look, *filter(node.has_pseudo_class, self._states_of[look]))
        if len(self._places) >= MOST_PLACES:
            self._forget()
        self._numbers[node] = self._places.setdefault(place, next(self._next_number))
        return self._numbers[node]

    def _forget(self) -> None:
        self._states_of, self._numbers, self._places, self._of_parts, self._of_widgets = {}, {}, {}, {}, {}


class _Read(dict[str, Any]):
    """Rules whose values a node has read already, such as a style from its name."""


class _SameRules(dict[Any, RulesMap]):
    """The cache that Textual asks for the rules of a widget, when they are known already."""

    def __init__(self, rules: RulesMap) -> None:
        super().__init__()
        self._rules = rules

    def get(self, key: Any, default: Any = None) -> Any:
        return self._rules


class _HashedByIdentity(RuleSet):
    """A rule whose hash costs no call; Textual asks for it for every widget and part."""

    __hash__ = object.__hash__
