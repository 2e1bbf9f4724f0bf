"""Benchmarks: what the pages say was measured."""

import atexit
import os

if "BICONSENSUS_NOTE_MODULES" in os.environ:  # this process was started by a benchmark
    from benchmarks.results import note_loaded

    atexit.register(note_loaded)
