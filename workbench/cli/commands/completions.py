"""`workbench completions`: print a script for shell completion of commands, options and their values.

Prints a script that completes commands, options and their values; files are
completed as usual. Load it once from your shell's start file.

examples:
  workbench completions bash >> ~/.bashrc
  workbench completions zsh > ~/.zfunc/_workbench        with ~/.zfunc in $fpath
  workbench completions fish > ~/.config/fish/completions/workbench.fish
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adapters.formats import catalog
from adapters.late_dataclasses import dataclass
from workbench.cli.arguments import Options, Parser
from workbench.cli.commands import SUMMARIES, parser_of
from workbench.output import console, exit_codes

SHELLS = ("bash", "zsh", "fish")
VALUES: Mapping[str, tuple[str, ...]] = {
    "--adapter": catalog.NAMES,
    "--update": ("render", "parse"),
}
"""The values of options that do not declare their choices."""


@dataclass(frozen=True)
class Option:
    """An option of a command: its spellings, its help in a line, and its values."""

    names: tuple[str, ...]
    about: str
    values: tuple[str, ...]


def add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="which shell")


def run(options: Options) -> int:
    commands = {name: list(_options(name)) for name in SUMMARIES}
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](commands)
    console.result(options.json, {"shell": options.shell, "script": script}, script, end="")
    return exit_codes.OK


def _options(command: str) -> Iterator[Option]:
    for action in parser_of(command)._actions:
        about = " ".join(str(action.help or "").split())
        choices = tuple([str(one) for one in action.choices or ()])
        if action.option_strings:
            values = choices or next((VALUES[name] for name in action.option_strings if name in VALUES), ())
            yield Option(tuple(action.option_strings), about, values)
        elif choices:
            yield Option((), about, choices)


def _cases(commands: Mapping[str, list[Option]], before: str, of_option: str, of_command: str) -> str:
    """Write the cases of a shell's script: the values of each command's options, and its words.

    `before` is the shell's word before the cursor. `of_option` completes {values}, `of_command` the {words}.
    """
    cases = []
    for name, options in commands.items():
        words = " ".join([word for one in options for word in (one.names or one.values)])
        values = "".join(
            f"        {'|'.join(one.names)}) {of_option.replace('{values}', ' '.join(one.values))}; return ;;\n"
            for one in options
            if one.names and one.values
        )
        inner = f"      case {before} in\n{values}      esac\n" if values else ""
        cases.append(f"    {name})\n{inner}      {of_command.replace('{words}', words)} ;;\n")
    return "".join(cases)


def _bash(commands: Mapping[str, list[Option]]) -> str:
    values = 'COMPREPLY=($(compgen -W "{values}" -- "$word"))'
    return (
        "_workbench() {\n"
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words\n'
        '  case "${COMP_WORDS[1]}" in\n' + _cases(commands, '"$before"', values, 'words="{words}"') + "  esac\n"
        f'  if [ "$COMP_CWORD" -eq 1 ]; then words="{" ".join(commands)} --help --version"; fi\n'
        '  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))\n'
        "}\n"
        "complete -o filenames -F _workbench workbench\n"
    )


def _zsh(commands: Mapping[str, list[Option]]) -> str:
    described = " ".join([_quoted(f"{name}:{summary}") for name, summary in SUMMARIES.items()])
    cases = _cases(commands, "$words[CURRENT-1]", "compadd -- {values}", "compadd -- {words}")
    return (
        "#compdef workbench\n"
        "_workbench() {\n"
        "  if (( CURRENT == 2 )); then\n"
        f"    local -a commands=({described})\n"
        "    _describe command commands\n"
        "    _files\n"
        "    return\n"
        "  fi\n"
        f"  case $words[2] in\n{cases}  esac\n"
        "  _files\n"
        "}\n"
        'if [ "$funcstack[1]" = "_workbench" ]; then _workbench "$@"; else compdef _workbench workbench; fi\n'
    )


def _fish(commands: Mapping[str, list[Option]]) -> str:
    lines = [
        f"complete -c workbench -n __fish_use_subcommand -a {name} -d {_quoted(SUMMARIES[name])}" for name in commands
    ]
    for name, options in commands.items():
        head = f"complete -c workbench -n '__fish_seen_subcommand_from {name}'"
        for one in options:
            spelled = "".join(f" -{'l' if word.startswith('--') else 's'} {word.lstrip('-')}" for word in one.names)
            values = f" -xa {_quoted(' '.join(one.values))}" if one.values else ""
            lines.append(f"{head}{spelled}{values} -d {_quoted(one.about)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Quote a word for any shell: in single quotes, with apostrophes replaced by typographic ones."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"
