"""What `--help` prints: commands by task, options by purpose, examples as they are typed.

Plain text, because the panels of typer load a Markdown parser, which takes longer than all the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

OTHER = "Options"
"""Heading of the options that have no purpose of their own."""


def examples(*lines: str) -> str:
    r"""Text for the end of a help page: one command a line, not wrapped.

    Examples
    --------
    >>> examples("biconsensus demo")
    '\x08\nExample:\n  biconsensus demo'
    """
    heading = "Example:" if len(lines) == 1 else "Examples:"
    return "\b\n" + "\n".join([heading, *(f"  {line}" for line in lines)])


class CommandsByTask(TyperGroup):
    """A program whose commands are listed by what a person wants to do, before its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their tasks, each with its whole first sentence; then the options."""
        found = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        rows = [(one, (str(one.name), " ".join(str(one.help).split("\n\n")[0].split()))) for one in found if one]
        _write(formatter, [(getattr(one, "rich_help_panel", None) or "Commands", row) for one, row in rows])
        _write(formatter, _options(self, ctx))


class OptionsByPurpose(TyperCommand):
    """A command whose options are listed by what they are for."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options under their purposes."""
        _write(formatter, _options(self, ctx))


def _options(command: TyperGroup | TyperCommand, ctx: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Heading, name and help of every argument and option."""
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            own = "Arguments" if param.param_type_name == "argument" else OTHER
            yield getattr(param, "rich_help_panel", None) or own, record


def _write(formatter: Any, rows: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write a definition list for each heading, in the order in which headings come; general options last."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, row in rows:
        sections.setdefault(heading, []).append(row)
    for heading in sorted(sections, key=lambda heading: heading == OTHER):
        with formatter.section(heading):
            formatter.write_dl(sections[heading])
