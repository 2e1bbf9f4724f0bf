"""The state behind the page: what is explored, what was chosen, the answer, and the work that is under way."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from biconsensus.errors import BiconsensusError, InputError
from biconsensus.explore._choices import AUTO, GIVEN, NUMBER, QUORUM, Choices
from biconsensus.explore._preview import preview
from biconsensus.explore._subject import Subject, open_file
from biconsensus.explore._worker import StoppedError, Worker
from biconsensus.find import Traced, trace
from biconsensus.pool.io._roles import Reading
from biconsensus.protocols import Progress, silent
from biconsensus.questions._questions import with_answers
from biconsensus.quorum._path import PathPoint
from biconsensus.result._consensus import Answered, Consensus, at_point
from biconsensus.result._path import ConsensusPath

T = TypeVar("T")

EMPTY, WORKING, PREVIEW, READY, FAILED = "empty", "working", "preview", "ready", "failed"
"""States: nothing to explore; the first answer is being found; an answer at once, the exact one to follow; the answer
is exact; the last work ended with an error or was cancelled."""
MOST_PATHS = 3
"""Paths that are kept beside that of all sources, so that a change that is undone costs nothing: each may be large."""
MOST_CUTS = 32
"""Answers that are kept: more than a path has points."""
SAME_QUORUM = 1e-9
"""Difference of two quorums that are one: they are decimal fractions."""
MOST_KEPT = 26
"""Answers that a user can keep for comparison: one for each letter."""


class NotSettledError(InputError):
    """What was asked for is not there at the moment: the page is behind, and will ask again."""


@dataclass(frozen=True, eq=False)
class Found:
    """A path, and what the library chooses on it."""

    traced: Traced
    auto: Consensus
    finished: ConsensusPath | None = None
    """Groups of all elements at the points of the path; they come a little later."""


def trace_pool(subject: Subject, choices: Choices, progress: Progress = silent) -> Found:
    """Path and choice of the sources that vote: the work that takes long."""
    search = choices.search(subject.settings)
    traced = trace(choices.pool(subject.pool), search, subject.evidence, progress=progress)
    auto = traced.answer()
    _last[:] = [auto]
    # sent without its own path: that would be finished first, and traced has it
    return Found(replace(traced, asked=replace(traced.asked, progress=silent)), replace(auto, trace=None))


def cut_number(traced: Traced, n_groups: int) -> Consensus:
    """An answer with exactly this number of groups; its path is left out, because the caller has it."""
    return replace(traced.with_n_groups(n_groups), trace=None)


_last: list[Consensus] = []
"""In the process that works: the last answer, whose path may be asked for."""


def finish_last() -> ConsensusPath | None:
    """Groups of all elements at the points of the last path, so that moving along it costs nothing."""
    return _last[0].path


@dataclass(frozen=True, eq=False)
class Kept:
    """An answer that was put aside for comparison."""

    name: str
    choices: Choices
    answer: Consensus


class Workspace:
    """One input, one set of choices, one answer; safe to be asked from several threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.subject: Subject | None = None
        self.choices = Choices()
        self.answer: Consensus | None = None
        self.status = EMPTY
        self.error = ""
        self.version = 0
        self.progress = (0, 0, "")
        self.kept: list[Kept] = []
        self.path_of_input: Path | None = None
        self._name = ""
        self._opening = False
        """Whether a file is being read, and what is on the page will go."""
        self._paths: OrderedDict[tuple[Any, ...], Found] = OrderedDict()
        self._cuts: OrderedDict[tuple[Any, ...], Consensus] = OrderedDict()
        self._worker = Worker()
        self._base: tuple[Any, ...] | None = None
        """Key of a path of all sources, which previews start from; it is never thrown away."""
        self._counted: tuple[int, Consensus | None] = (0, None)
        self._known: dict[str, Any] = {}
        self._thread: threading.Thread | None = None
        self._finishing: threading.Thread | None = None
        """The thread whose answer is there, and which finishes its path."""

    # what comes in

    def open(self, path: Path, name: str, kind: str | None = None, reading: Reading | None = None) -> None:
        """Read a file and find its first answer, in the background."""
        with self.lock:
            self.path_of_input, self._name, self._opening = path, name, True
            self._start(self._open_job, path, name, kind, reading or Reading())

    def read_again(self, kind: str | None, reading: Reading) -> None:
        """The same file, its columns taken otherwise."""
        with self.lock:
            if self.path_of_input is None:
                raise InputError("there is no file to read again; open one.")
            self.open(self.path_of_input, self._name, kind, reading)

    def take(self, subject: Subject) -> None:
        """Explore something that is in memory already."""
        with self.lock:
            self._adopt(subject)

    def _open_job(self, path: Path, name: str, kind: str | None, reading: Reading) -> None:
        """Read in the other process, then go on with what was read."""
        subject = self._worker.run(open_file, path, name, kind, reading, progress=self._tell)
        with self.lock:
            if threading.current_thread() is self._thread:
                self._adopt(subject)

    def _adopt(self, subject: Subject) -> None:
        """Start from a new subject."""
        choices = Choices(mode=AUTO if subject.given is None else GIVEN)
        if subject.given is not None:
            choices = choices.changed(self._first_choices(subject), subject.pool)
        self.subject, self.choices, self.kept, self.answer = subject, choices, [], subject.given
        self._opening = False
        self._paths.clear()
        self._base = None
        self._cuts.clear()
        self._solve()

    @staticmethod
    def _first_choices(subject: Subject) -> dict[str, Any]:
        """Choices of a saved session, or of the search behind an answer that was handed over."""
        assert subject.given is not None
        known = subject.given.settings if subject.session is None else subject.session
        names = ("min_elements", "min_candidates", "unassigned") if subject.session is None else Choices().to_json()
        return {name: known[name] for name in names if known.get(name) is not None}

    # what is changed

    def change(self, patch: Mapping[str, Any]) -> None:
        """Change some choices; the answer is there at once where its path is known, else a preview of it."""
        with self.lock:
            subject = self._to_change()
            choices = self.choices.changed(patch, subject.pool)
            if choices.mode == GIVEN and (subject.given is None or choices.key != self._first_key()):
                choices = replace(choices, mode=AUTO)
            self.choices = choices
            self._solve()

    def _to_change(self) -> Subject:
        """What is explored; a change while a file is being read would end the reading."""
        if self._opening:
            raise NotSettledError(f"{self._name} is being read; change something when it is there, or cancel.")
        if self.subject is None:
            raise InputError("there is nothing to explore yet; open a file.")
        return self.subject

    def _first_key(self) -> tuple[Any, ...]:
        """Choices under which the answer as it was given still holds."""
        assert self.subject is not None
        return Choices().changed(self._first_choices(self.subject), self.subject.pool).key

    def _solve(self) -> None:
        """Answer the choices: from a path that is known, or by tracing one."""
        assert self.subject is not None
        self.version += 1
        self.error = ""
        found = self._paths.get(self.choices.key)
        if found is not None:
            self._paths.move_to_end(self.choices.key)
            if self.choices.mode == NUMBER and self._cut_key() not in self._cuts:
                self._preview_on(found)
                self._start(self._number_job, found, self.choices)
                return
            if self.working and self._finishing is not self._thread:
                self._start(lambda: None)
            self._land(found)
            return
        if self.choices.mode == GIVEN and not self.choices.answers:
            self.answer, self.status = self.subject.given, READY
        else:
            self._preview()
        subject, choices = self.subject, self.choices
        self._start(self._trace_job, subject, choices)

    def _preview(self) -> None:
        """An answer at once from the path of all sources, where that is known."""
        base = None if self._base is None else self._paths[self._base]
        subject, choices = self.subject, self.choices
        assert subject is not None
        if base is None or choices.together:
            self.status = WORKING if self.answer is None else PREVIEW
            return
        if choices.mode == NUMBER:
            point = self._nearest_number(base)
        else:
            near = choices.quorum if choices.mode == QUORUM else float(base.auto.settings["quorum"])
            point = min(base.traced.path.points, key=lambda point: abs(np.log(float(point.quorum) / near)))
        settings = base.traced.asked.settings
        sizes = choices.min_elements or settings.sizes[0], choices.min_candidates or settings.sizes[1]
        self.answer = preview(base.traced, choices.factors(subject.pool), point, sizes)
        self.status = PREVIEW

    def _preview_on(self, found: Found) -> None:
        """The point of a path whose number of groups is nearest to the one that was asked for."""
        self.answer = self._at(found, float(self._nearest_number(found).quorum))
        self.status = PREVIEW

    def _nearest_number(self, found: Found) -> PathPoint:
        """Of the points of a path, the one with about as many groups as were asked for."""
        return min(found.traced.path.points, key=lambda point: abs(len(point) - self.choices.n_groups))

    def _number_job(self, found: Found, choices: Choices) -> None:
        """Cut into a number of groups, which looks at all rows, in the other process, and land the answer."""
        self._find_number(found, choices)
        with self.lock:
            if threading.current_thread() is self._thread:
                self._land(found)
                self.version += 1

    def _find_number(self, found: Found, choices: Choices) -> None:
        """Have the other process cut a path into a number of groups."""
        cut = self._worker.run(cut_number, found.traced, choices.n_groups)
        given = found.traced.asked
        key = (*choices.key, NUMBER, choices.n_groups)
        self._keep_cut(key, replace(cut, pool=given.given, row_of=given.joined.inverse))  # one pool for all of them

    def _trace_job(self, subject: Subject, choices: Choices) -> None:
        """Trace the path in the other process and land the answer."""
        # what was handed over is not needed there
        sent = replace(subject, given=None, X=None, graph=None, truth=None)
        found: Found = self._worker.run(trace_pool, sent, choices, progress=self._tell)
        if choices.mode == NUMBER:
            self._find_number(found, choices)
        with self.lock:
            if threading.current_thread() is not self._thread:
                return
            self._paths[choices.key] = found
            if self._base is None and not (choices.off or choices.weights or choices.together):
                self._base = choices.key
            while len(self._paths) > MOST_PATHS + 1:
                del self._paths[next(key for key in self._paths if key != self._base)]
            self._land(found)
            self.version += 1
            self._finishing = self._thread
        finished = self._worker.run(finish_last)
        with self.lock:
            if self._paths.get(choices.key) is found:
                self._paths[choices.key] = Found(found.traced, found.auto, finished)

    def _keep_cut(self, key: tuple[Any, ...], cut: Consensus) -> None:
        """Remember an answer; the oldest goes."""
        with self.lock:
            self._cuts[key] = cut
            while len(self._cuts) > MOST_CUTS:
                self._cuts.popitem(last=False)

    def _land(self, found: Found) -> None:
        """The exact answer of the choices, read from its path."""
        try:
            self.answer = self._cut(found)
            self.status = READY
        except BiconsensusError as error:
            self._fail(str(error))

    def _cut(self, found: Found) -> Consensus:
        """Answer at the place that was chosen."""
        assert self.subject is not None
        choices = self.choices
        if choices.answers:
            key = (*choices.key, choices.mode, choices.quorum, choices.n_groups, choices.answers)
            if key not in self._cuts:
                before = self._unanswered(found)
                answers = tuple(Answered(*one) for one in choices.answers)
                self._keep_cut(key, with_answers(before, (*before.answers, *answers)))
            return self._cuts[key]
        return self._unanswered(found)

    def _unanswered(self, found: Found) -> Consensus:
        """Answer at the place that was chosen, before what was said of pairs."""
        assert self.subject is not None
        choices = self.choices
        if choices.mode == GIVEN:
            assert self.subject.given is not None
            return self.subject.given
        if choices.mode == AUTO:
            return found.auto
        key = self._cut_key()
        if key not in self._cuts:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                number = choices.mode == NUMBER
                cut = found.traced.with_n_groups(choices.n_groups) if number else self._at(found, choices.quorum)
            self._keep_cut(key, cut)
        return self._cuts[key]

    def _cut_key(self) -> tuple[Any, ...]:
        """What the answer at a quorum or with a number of groups is remembered by."""
        choices = self.choices
        return (*choices.key, choices.mode, choices.quorum if choices.mode == QUORUM else choices.n_groups)

    def _at(self, found: Found, quorum: float) -> Consensus:
        """Answer at a quorum: as it was finished, or from the path."""
        assert self.subject is not None
        finished = found.finished
        # data beyond the pool may place elements that no candidate holds, which the finished groups leave out
        if finished is not None and self.subject.evidence is None:
            for point in finished.points:
                if abs(point.quorum - quorum) < SAME_QUORUM:
                    answer = at_point(found.auto, finished, point)
                    settings = {**answer.settings, "chosen_by": "given", "method": "path", "n_groups": None}
                    asked = {"quorum": point.quorum, "method": "path", **answer.asked}
                    return replace(answer, settings=settings, asked=asked)
        return found.traced.at(quorum)

    def whole(self) -> tuple[Subject, Choices, Consensus]:
        """Input, choices and exact answer with its path, after waiting for it."""
        subject, choices, answer = self.settled()
        if choices.mode == GIVEN and not choices.answers:
            return subject, choices, answer
        self.wait(None)
        with self.lock:
            found = self._paths.get(choices.key)
            finished = None if found is None else found.finished
        return subject, choices, answer if finished is None else replace(answer, trace=finished)

    def path(self) -> list[list[float]]:
        """Quorum, number of groups and score of every point of the path, from coarse to fine, where it is known."""
        with self.lock:
            found = self._paths.get(self.choices.key)
            if found is None:
                return []
            path = found.traced.path
            return [[float(point.quorum), len(point), path.score(point)] for point in reversed(path.points)]

    def answer_number(self) -> int:
        """Changes when the answer does, so that a page asks for its details once."""
        with self.lock:
            if self.answer is not self._counted[1]:
                self._counted = self._counted[0] + 1, self.answer
                self._known = {}
            return self._counted[0]

    def once(self, name: str, answer: Consensus, call: Callable[[], T]) -> T:
        """What follows from an answer, worked out once while it is on the page."""
        self.answer_number()
        with self.lock:
            known, current = self._known, self._counted[1] is answer
            if current and name in known:
                found: T = known[name]
                return found
        value = call()
        if current:
            known[name] = value
        return value

    def settled(self) -> tuple[Subject, Choices, Consensus]:
        """Input, choices and exact answer; refused while there is none."""
        with self.lock:
            if self.subject is None or self.answer is None or self.status != READY:
                raise NotSettledError("the answer is still being worked out; wait until it is there, or cancel.")
            return self.subject, self.choices, self.answer

    # comparison

    def keep(self) -> None:
        """Put the answer aside, under the next letter."""
        with self.lock:
            _, choices, answer = self.settled()
            if len(self.kept) >= MOST_KEPT:
                raise InputError(f"{MOST_KEPT} answers are kept, which is all the letters; drop one.")
            name = next(letter for letter in map(chr, range(65, 91)) if all(k.name != letter for k in self.kept))
            self.kept.append(Kept(name, choices, answer))
            self.version += 1

    def drop(self, name: str) -> None:
        """Forget a kept answer."""
        with self.lock:
            self.kept.remove(self.find_kept(name))
            self.version += 1

    def find_kept(self, name: str) -> Kept:
        """A kept answer by its letter."""
        with self.lock:
            for one in self.kept:
                if one.name == name:
                    return one
        raise NotSettledError(f"no answer is kept as {name!r:.20}; kept are {[one.name for one in self.kept]}.")

    def go_back(self, name: str) -> None:
        """Take the choices of a kept answer again."""
        with self.lock:
            self._to_change()
            self.choices = self.find_kept(name).choices
            self._solve()

    # work

    def _start(self, work: Any, *arguments: Any) -> None:
        """Start work in a thread of its own, after stopping what runs."""
        before = self._thread
        self.progress = (0, 0, "")
        self.error = ""
        if work == self._open_job:
            self.status = WORKING
            self.version += 1
        thread = threading.Thread(target=self._work, args=(before, work, *arguments), daemon=True)
        thread.start()
        self._thread = thread  # only now: a thread that has not started yet would look like one that has ended

    def _work(self, before: threading.Thread | None, work: Any, *arguments: Any) -> None:
        """The thread: stop what ran, work, and say what went wrong."""
        while before is not None and before.is_alive():
            if before is not self._finishing:  # what is left there is short, and wanted by the report
                self._worker.stop()
            before.join(0.1)
        me = threading.current_thread()
        try:
            with self.lock:
                if me is not self._thread:
                    return
            work(*arguments)
        except StoppedError:
            pass  # whoever stopped it says what comes next
        except BiconsensusError as error:
            with self.lock:
                if me is self._thread:
                    self._fail(str(error))
        except Exception as error:
            with self.lock:
                if me is self._thread:
                    self._fail(f"{type(error).__name__}: {error}")

    def _fail(self, message: str) -> None:
        """Remember what went wrong."""
        self.status, self.error, self._opening = FAILED, message, False
        self.version += 1

    @property
    def working(self) -> bool:
        """Whether work is under way."""
        thread = self._thread
        return thread is not None and thread.is_alive() and thread is not threading.current_thread()

    def _tell(self, done: int, total: int, step: str) -> None:
        """Progress of what runs."""
        self.progress = (done, total, step)

    def cancel(self) -> None:
        """Stop what runs; the page keeps what it shows."""
        with self.lock:
            if not self.working:
                return
            self._start(lambda: None)
            self._fail("cancelled; change something to go on.")
        self.wait(None)

    def wait(self, seconds: float | None) -> None:
        """Wait until no work is under way, at most for a given time."""
        until = None if seconds is None else time.monotonic() + seconds
        while self.working and (until is None or time.monotonic() < until):
            time.sleep(0.01)

    def close(self) -> None:
        """Stop everything."""
        with self.lock:
            thread, self._thread = self._thread, None
        self._worker.close()
        if thread is not None:
            thread.join()
