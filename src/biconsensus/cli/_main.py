"""Start the command line and turn whatever goes wrong into one readable sentence and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

OK, BAD_INPUT, INTERRUPTED, TERMINATED = 0, 2, 130, 143
"""Exit codes: what shells expect of success, wrong input, an interrupt (128 + SIGINT) and an end (128 + SIGTERM)."""
NO_COMMANDS = {"report": "A report is an option of every command that finds groups: merge FILE --report page.html."}
"""What to say of words that people take for commands."""
ONE_FILE = (
    "The command takes one file. Of several groupings make one table with a column for each: in pandas, "
    "pandas.concat(columns, axis=1).to_csv(...)."
)
"""What to say where there are more files than one."""


def main() -> None:
    """Entry point of the program."""
    _open_streams()
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(sys.argv[1:]))


def _open_streams() -> None:
    """Standard streams that are closed lead nowhere, and names that are not UTF-8 are printed with replacements."""
    # in the order of their numbers: an input file must not get the number of the output
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _terminate(number: int, frame: object) -> None:
    """End in order, so that temporary files and worker processes are removed on the way."""
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(TERMINATED)


@cache
def _program() -> Any:
    """All commands with their options; building them takes longer than small work, so it is done once."""
    from typer.main import get_command

    from biconsensus.cli._app import app

    return get_command(app)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str
        As typed after `biconsensus`.

    Returns
    -------
    int
        0 done, 2 wrong usage or input, 130 interrupted, 143 terminated.

    Examples
    --------
    >>> run(["--version"])
    biconsensus ...
    0
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code = _program().main(args=list(arguments), prog_name="biconsensus", standalone_mode=False)
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BrokenPipeError:
            return _closed_pipe()
        except SystemExit as stop:
            if stop.code == 1:  # rich and typer leave this way when a pipe is closed
                return _closed_pipe()
            code = stop.code
        except Exception as error:
            ended = _ended_by(error)
            if ended is None:
                if os.environ.get("BICONSENSUS_DEBUG"):
                    raise
                return _explain(error, arguments)
            code = ended
    if code == INTERRUPTED:
        _say("interrupted; base results that were finished are kept where --resume was given.")
    return code if isinstance(code, int) else OK


def _ended_by(error: BaseException) -> Any:
    """Exit code of an interrupt or end that stopped the work, where a half-written archive then raised this error."""
    cause = error.__context__
    while cause is not None and not isinstance(cause, KeyboardInterrupt | SystemExit):
        cause = cause.__context__
    return INTERRUPTED if isinstance(cause, KeyboardInterrupt) else getattr(cause, "code", None)


def _closed_pipe() -> int:
    """The reader of our output has gone: nothing more to say."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _explain(error: Exception, arguments: Sequence[str]) -> int:
    """Print one sentence for an error."""
    from biconsensus.cli._output import with_options

    if type(error).__name__ == "Abort":
        return INTERRUPTED
    if hasattr(error, "format_message") and type(error).__name__ == "NoArgsIsHelpError":
        _say(error.format_message())
    elif hasattr(error, "format_message"):
        command = " ".join(["biconsensus", *(word for word in arguments[:1] if word in _program().commands)])
        usage = getattr(getattr(error, "ctx", None), "command_path", command)
        said = error.format_message()
        typed = said.partition("No such command '")[2].partition("'")[0]
        if typed in NO_COMMANDS:
            said = f"No such command '{typed}'. {NO_COMMANDS[typed]}"
        elif typed and Path(typed).is_file():
            said = f"{typed} is a file; say first what is to be done with it, for instance: biconsensus merge {typed}."
        elif said.startswith("Got unexpected extra argument"):
            said = f"{_sentence(said)} {ONE_FILE}" if command.endswith((" merge", " modes")) else said
        elif meant := _option_meant(error):
            said = f"No such option: {error.option_name}. Use {meant}."  # type: ignore[attr-defined]
        _say(f"error: {_sentence(said)} Try '{usage} --help'.")
    elif _expected(error):
        _say(f"error: {_sentence(with_options(_text_of(error)))}")
    else:
        _say(
            f"error: {_sentence(f'{type(error).__name__}: {error}')} Set BICONSENSUS_DEBUG=1 to see where it came from."
        )
    return BAD_INPUT


def _option_meant(error: Any) -> str | None:
    """The option of the command that an unknown one stands for, which may be a name of Python or of another library."""
    from biconsensus._names import OTHER_NAMES
    from biconsensus.cli._output import OPTIONS

    name = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
    command = getattr(getattr(error, "ctx", None), "command", None)
    known = {option for param in getattr(command, "params", ()) for option in param.opts}
    meant = (OPTIONS.get(ours) for ours in (name, *OTHER_NAMES.get(name, ())))
    return next((option for option in meant if option in known), None)


def _expected(error: Exception) -> bool:
    """Whether an error is one that input can cause."""
    from biconsensus.errors import BiconsensusError

    return isinstance(error, BiconsensusError | OSError | MemoryError | UnicodeError)


def _text_of(error: Exception) -> str:
    """What an error says; system errors with the file first."""
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {error.filename}; check the path."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _sentence(text: Any) -> str:
    """One line that ends with a full stop."""
    line = " ".join(str(text).split())
    return line if line.endswith((".", "!", "?")) else f"{line}."


def _say(text: str) -> None:
    """A line on standard error."""
    print(text, file=sys.stderr)
