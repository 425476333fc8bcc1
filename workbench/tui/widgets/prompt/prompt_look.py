"""How the pieces of a prompt look: a style for every kind of origin, and for what is lit, found or under the cursor."""

from __future__ import annotations

from adapters.prompts.text import KINDS

PROMPT_CSS = """
PromptView {
    & .prompt-view--title { color: $foreground; text-style: bold; }
    & .prompt-view--rule { color: $foreground 25%; }
    & .prompt-view--tokens { color: $foreground 60%; }
    & .prompt-view--instructions { color: $foreground; text-style: bold; }
    & .prompt-view--name { color: $text-primary; text-style: bold; }
    & .prompt-view--type { color: $text-primary; text-style: italic; }
    & .prompt-view--description { color: $foreground 85%; text-style: italic; }
    & .prompt-view--constraint { color: $text-warning; }
    & .prompt-view--schema { color: $text-primary; text-style: dim; }
    & .prompt-view--value { color: $foreground; }
    & .prompt-view--marker { color: $text-accent; }
    & .prompt-view--reminder { color: $text-warning; text-style: italic; }
    & .prompt-view--filler { color: $text-error; text-style: underline; }
    & .prompt-view--boilerplate { color: $foreground 70%; }
    & .prompt-view--custom { color: $foreground; }
    & .prompt-view--data { color: $text-success; }
    & .prompt-view--note { color: $foreground 60%; text-style: italic; }
    & .prompt-view--fold { color: $text-accent; text-style: bold; }
    & .prompt-view--error { color: $text-error; background: $error-muted; }
    & .prompt-view--lit { background: $accent 30%; text-style: bold; }
    & .prompt-view--related { background: $accent 15%; }
    & .prompt-view--cursor { background: $foreground 18%; }
    & .prompt-view--found { background: $warning 45%; text-style: bold; }
    & .prompt-view--mark { color: $text-accent; text-style: bold; }
    &:ansi {
        & .prompt-view--boilerplate { text-style: dim; }
        & .prompt-view--tokens { text-style: dim; }
        & .prompt-view--rule { text-style: dim; }
        & .prompt-view--error { background: transparent; text-style: bold; }
        & .prompt-view--lit { background: transparent; text-style: bold underline; }
        & .prompt-view--related { background: transparent; text-style: underline; }
        & .prompt-view--cursor { background: transparent; text-style: reverse; }
        & .prompt-view--found { background: transparent; text-style: bold reverse; }
    }
}
"""
PROMPT_CLASSES = {
    f"prompt-view--{name}"
    for name in (
        *KINDS,
        *("title", "rule", "tokens", "data", "note", "fold", "error", "lit", "related", "cursor", "mark", "found"),
    )
}
