"""Fetching, against a server on this machine: good files, wrong ones, broken connections, processes at once."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import threading

import pytest

from biconsensus import datasets
from biconsensus.datasets import _folder
from biconsensus.datasets._fetch import PUBLIC, address_of, fetch_files
from biconsensus.datasets._table import PACKAGED, table
from biconsensus.errors import BiconsensusError, InputError, MissingDataError, MissingDependencyError
from tests.helpers.web import place

IRIS, WINE = table()["uci/iris.csv"], table()["uci/wine.csv"]
CONTENT = (PACKAGED / IRIS.file).read_bytes()


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once_and_kept(server, cache):
    for _ in range(2):
        (path,) = fetch_files([IRIS])
        assert path == cache / "uci" / "iris.csv"
        assert path.read_bytes() == CONTENT
    assert server.asked == [f"/jbrownlee/Datasets/{IRIS.commit}/iris.csv"]
    assert files_in(cache) == ["uci/iris.csv"]


def test_the_address_is_that_of_the_repository_at_its_commit(cache):
    assert address_of(IRIS) == f"{PUBLIC}/jbrownlee/Datasets/{IRIS.commit}/iris.csv"


def test_several_files_come_in_their_order(server, cache):
    assert [path.name for path in fetch_files([WINE, IRIS])] == ["wine.csv", "iris.csv"]


def test_a_wrong_file_is_refused_and_not_kept(server, cache):
    server.files[place(IRIS)] = lambda: CONTENT + b"\n"
    with pytest.raises(MissingDataError, match="another SHA-256 than it should and was not kept"):
        fetch_files([IRIS])
    assert files_in(cache) == []
    assert len(server.asked) == 2, "one more try, then the error"


def test_a_broken_transfer_is_tried_again(server, cache):
    server.cut = 1
    assert fetch_files([IRIS])[0].read_bytes() == CONTENT
    assert len(server.asked) == 2
    assert files_in(cache) == ["uci/iris.csv"]


def test_after_a_failure_the_next_call_starts_afresh(server, cache):
    server.cut = 2
    with pytest.raises(MissingDataError, match=r"the connection failed|another SHA-256"):
        fetch_files([IRIS])
    assert files_in(cache) == [], "no part of a file is left"
    assert fetch_files([IRIS])[0].read_bytes() == CONTENT


def test_what_came_before_a_failure_is_not_fetched_again(server, cache):
    del server.files[place(WINE)]
    with pytest.raises(MissingDataError, match=r"uci/wine\.csv .*the server answered 404"):
        fetch_files([IRIS, WINE])
    server.asked.clear()
    server.files[place(WINE)] = (PACKAGED / WINE.file).read_bytes
    fetch_files([IRIS, WINE])
    assert server.asked == [place(WINE)]


def test_a_damaged_file_of_the_cache_is_replaced(server, cache):
    (path,) = fetch_files([IRIS])
    path.write_bytes(b"half of it")
    assert fetch_files([IRIS])[0].read_bytes() == CONTENT


def test_two_processes_at_once_both_get_whole_files(server, cache):
    server.together = threading.Barrier(2)  # neither is answered before both have asked
    program = (
        "from biconsensus.datasets._fetch import fetch_files\n"
        "from biconsensus.datasets._table import table\n"
        "print(len(fetch_files([table()['uci/iris.csv']])[0].read_bytes()))\n"
    )
    command = [sys.executable, "-c", program]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out.strip(), err) == (0, str(len(CONTENT)), "")
    assert len(server.asked) == 2
    assert files_in(cache) == ["uci/iris.csv"]


def test_offline_without_a_cache_one_sentence_says_what_to_do(server, cache, monkeypatch):
    monkeypatch.setenv("BICONSENSUS_DATA_URL", "http://127.0.0.1:9")  # the port "discard": nobody listens
    with pytest.raises(MissingDataError) as caught:
        datasets.load_self_tuning("smiley")
    said = str(caught.value)
    assert said.startswith("self_tuning/2.csv of the data set 'self_tuning' is not in ")
    assert "(the connection failed)" in said
    assert "run `biconsensus datasets fetch self_tuning`" in said
    assert "set BICONSENSUS_DATA to a folder" in said
    assert "\n" not in said
    assert said.endswith(".")
    assert caught.value.dataset == "self_tuning"
    assert isinstance(caught.value, BiconsensusError | FileNotFoundError)


def test_offline_with_a_cache_nothing_is_asked(server, cache, monkeypatch):
    fetch_files([IRIS])
    monkeypatch.setenv("BICONSENSUS_DATA_URL", "http://127.0.0.1:9")
    assert fetch_files([IRIS])[0].read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("BICONSENSUS_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingDataError, match=r"file.*(Not a directory|File exists)"):
        fetch_files([IRIS])


def test_files_of_the_package_need_neither_pooch_nor_a_connection(cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert datasets.load_uci("iris").X.shape == (150, 4)
    with pytest.raises(MissingDependencyError, match=r"pip install 'biconsensus\[datasets\]'"):
        datasets.load_uci("glass")


def test_the_folder_of_the_user_wins_and_nothing_is_fetched(server, tmp_path, monkeypatch):
    (tmp_path / "own" / "uci").mkdir(parents=True)
    (tmp_path / "own" / "uci" / "iris.csv").write_text("1,2,a\n3,4,b\n")
    monkeypatch.setenv("BICONSENSUS_DATA", str(tmp_path / "own"))
    assert datasets.load_uci("iris").X.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(MissingDataError, match=r"wine\.csv is missing; set BICONSENSUS_DATA"):
        datasets.load_uci("wine")
    assert server.asked == []


@pytest.mark.parametrize("address", ["ftp://host/x", "host", "file:///etc"])
def test_an_address_must_be_that_of_a_web_server(cache, monkeypatch, address):
    monkeypatch.setenv("BICONSENSUS_DATA_URL", address)
    with pytest.raises(InputError, match="must start with https:// or http://"):
        fetch_files([IRIS])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_only(server, cache, monkeypatch, capsys):
    fetch_files([IRIS])
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    fetch_files([IRIS, WINE])
    assert "fetching uci" in sys.stderr.getvalue()
    before = sys.stderr.getvalue()
    fetch_files([IRIS, WINE])
    assert sys.stderr.getvalue() == before, "nothing to show where nothing is fetched"


def test_the_error_crosses_processes(cache):
    error = MissingDataError.of("uci", "uci/x.csv", "cache", "http://host", "no answer in time")
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.dataset) == (str(error), "uci")


def test_data_dir_is_the_cache_where_no_folder_is_named(cache):
    assert _folder.data_dir() == cache
