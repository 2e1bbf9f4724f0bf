"""Every exception and warning of the library, as one tree.

::

    BiconsensusError
    ├── InputError (ValueError)          a value that cannot be used
    │   └── UnknownNameError             a name that is not registered; lists the valid ones
    ├── InputTypeError (TypeError)       a type that cannot be used
    ├── FileFormatError (ValueError)     a file that cannot be read as what it should be
    ├── MissingDependencyError (ImportError)   an optional package that is not installed
    ├── MissingDataError (FileNotFoundError)   a data set that is not here and cannot be fetched
    ├── TooLargeError (MemoryError)      a predicted need of memory above the limit
    └── SourceError (RuntimeError)       too few base results are left

    BiconsensusWarning (UserWarning)
    ├── NoConsensusWarning               no group was found, and why
    ├── ThresholdWarning                 a threshold that does not suit the data
    ├── PoolWarning                      something in the pool deserves a look
    └── ConvergenceWarning               a solver stopped before it converged
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = [
    "BiconsensusError",
    "BiconsensusWarning",
    "ConvergenceWarning",
    "FileFormatError",
    "InputError",
    "InputTypeError",
    "MissingDataError",
    "MissingDependencyError",
    "NoConsensusWarning",
    "PoolWarning",
    "SourceError",
    "ThresholdWarning",
    "TooLargeError",
    "UnknownNameError",
]
__dir__ = __all__.copy  # what dir() shows


class BiconsensusError(Exception):
    """Base of every error that the library raises on purpose."""


class InputError(BiconsensusError, ValueError):
    """A value that cannot be used: says which argument, what came, what is allowed."""


class UnknownNameError(InputError):
    """A name that is not registered."""

    @classmethod
    def of(cls, what: str, name: object, valid: Iterable[str]) -> UnknownNameError:
        """Build the message: the name, the nearest valid one, all valid ones."""
        names = sorted(filter(None, valid))  # the index of a table has no name
        near = difflib.get_close_matches(str(name), names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = f"Valid names: {', '.join(names)}." if names else "There is none of any name."
        return cls(f"unknown {what} {name!r}.{hint} {listed}")


class InputTypeError(BiconsensusError, TypeError):
    """A type that cannot be used."""


class FileFormatError(BiconsensusError, ValueError):
    """A file that cannot be read as what it should be."""


class MissingDependencyError(BiconsensusError, ImportError):
    """An optional package that is not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingDependencyError:
        """Build the message: what is missing and the command that brings it."""
        return cls(f"{package} is not installed; get it with: pip install 'biconsensus[{extra}]'")


class MissingDataError(BiconsensusError, FileNotFoundError):
    """A file of a data set that is not here and cannot be fetched; `dataset` is the name of the set."""

    def __init__(self, message: str, dataset: str | None = None) -> None:
        super().__init__(message)
        self.dataset = dataset

    @classmethod
    def of(cls, dataset: str, file: str, folder: object, address: str, reason: str) -> MissingDataError:
        """Build the message: which file is missing, why it could not be fetched, how to get it."""
        return cls(
            f"{file} of the data set {dataset!r} is not in {folder} and could not be fetched from {address} "
            f"({reason}); run `biconsensus datasets fetch {dataset}` where there is a connection, or set "
            f"BICONSENSUS_DATA to a folder that has the file.",
            dataset,
        )

    def __reduce__(self) -> tuple[type[MissingDataError], tuple[str, str | None]]:
        """What pickle needs to send the error to another process with both of its fields."""
        return type(self), (str(self), self.dataset)


class TooLargeError(MemoryError, BiconsensusError):  # in this order, or Dask could not send it between processes
    """A predicted need of memory above the limit, raised before anything is allocated."""


class SourceError(BiconsensusError, RuntimeError):
    """Too few base results are left to form a pool."""


class BiconsensusWarning(UserWarning):
    """Base of every warning of the library."""


class NoConsensusWarning(BiconsensusWarning):
    """No group was found; the message says why and what to set."""


class ThresholdWarning(BiconsensusWarning):
    """A threshold that does not suit the data; the message proposes one."""


class PoolWarning(BiconsensusWarning):
    """Something in the pool deserves a look."""


class ConvergenceWarning(BiconsensusWarning):
    """A solver stopped before it converged; the message has the residual."""
