"""Time left, and what is printed of it and of what came out."""

import io
from types import SimpleNamespace

import pandas as pd
from rich.console import Console

from mloml.experiments import progress
from mloml.experiments.progress import Board, print_summary


def a_cell(dataset, algorithm="moml"):
    return SimpleNamespace(dataset=dataset, algorithm=SimpleNamespace(name=algorithm))


def a_record(dataset, seconds, algorithm="moml"):
    return {"dataset": dataset, "algorithm": algorithm, "seconds": {"total": seconds}}


def a_board(cells, workers):
    board = Board(Console(file=io.StringIO()), cells)
    board.workers = workers
    return board


def test_nothing_is_guessed_while_an_algorithm_has_not_been_seen():
    board = a_board([a_cell("iris", "euclidean"), a_cell("iris"), a_cell("wine")], workers=1)
    assert board.seconds_left() is None
    board.learn(a_record("iris", 0.01, "euclidean"))
    board.count(a_cell("iris", "euclidean"))
    assert board.seconds_left() is None
    board.learn(a_record("iris", 5.99))
    assert board.seconds_left() == 5.99 + 3.0  # on wine the mean of both


def test_cells_cost_what_others_of_their_kind_cost():
    board = a_board([a_cell("iris")] * 10 + [a_cell("waveform")] * 2, workers=2)
    for record in (a_record("iris", 1.0), a_record("iris", 3.0), a_record("waveform", 100.0)):
        board.learn(record)
    assert board.seconds_left() == (10 * 2.0 + 2 * 100.0) / 2
    board.count(a_cell("waveform"))
    assert board.seconds_left() == (10 * 2.0 + 1 * 100.0) / 2


def test_more_workers_than_cells_do_not_help():
    board = a_board([a_cell("iris")], workers=128)
    board.learn(a_record("iris", 7.0))
    assert board.seconds_left() == 7.0


def test_without_a_terminal_plain_lines_tell_the_progress():
    output = io.StringIO()
    cells = [a_cell("iris"), a_cell("wine")]
    with Board(Console(file=output), cells) as board:
        board.learn(a_record("iris", 0.2))
        board.count(cells[0], failed=False)
        assert board.words() == "elapsed 0:00"  # an estimate that is used up is not shown
        board.count(cells[1], failed=True)
    assert output.getvalue() == "2/2 cells (100 %), elapsed 0:00, 1 failed\n"


def test_on_a_terminal_a_bar_tells_the_time_left():
    output = io.StringIO()
    cells = [a_cell("iris"), a_cell("wine")]
    with Board(Console(file=output, force_terminal=True, width=120), cells) as board:
        board.learn(a_record("iris", 60.0))
        board.count(cells[0], failed=False)
    assert "1/2" in output.getvalue()
    assert "about 1:00 left" in output.getvalue()


def test_while_algorithms_compile_it_says_how_many_are_ready(monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    output, cells = io.StringIO(), [a_cell("iris")]
    with Board(Console(file=output), cells) as board:
        for done in range(3):
            board.compiling(done, 3)
            assert board.words().startswith(f"compiling {done + 1} of 3, elapsed 0:00")
        board.compiling(3, 3)
        board.say("once")
        board.say("once")  # by another job of a sweep
        board.count(cells[0])
    lines = [
        "compiling 1 of 3",
        "compiling 2 of 3",
        "compiling 3 of 3",
        "once",
        "1/1 cells (100 %), elapsed 0:00",
    ]
    assert output.getvalue().splitlines() == lines


def a_result(states, computed=0):
    frame = pd.DataFrame({"status": states, "error": 0.25, "seconds": 1.0})
    frame.loc[frame["status"] != "ok", ["error", "seconds"]] = None
    frame = frame.assign(dataset=["iris", "iris", "wine"][: len(states)], algorithm="moml")
    study = SimpleNamespace(algorithms=[SimpleNamespace(name="moml", title="MOML")])
    failures = frame[~frame["status"].isin(["ok", "missing"])].assign(command="mloml again")
    return SimpleNamespace(
        study=study, frame=frame, failures=failures, missing={}, computed=computed, reused=0, folder="runs"
    )


def test_a_table_shows_means_and_deviations():
    result, output = a_result(["ok", "ok", "ok"], 3), io.StringIO()
    result.frame["error"] = [0.1, 0.3, 0.25]
    print_summary(result, Console(file=output))
    assert "MOML  0.200±0.141  0.250\n" in output.getvalue()  # of one split there is no deviation


def test_a_table_says_how_many_splits_are_missing(tmp_path):
    result, output = a_result(["ok", "failed", "missing"], 1), io.StringIO()
    result.folder = tmp_path
    print_summary(result, Console(file=output), "as expected")
    text = output.getvalue()
    assert "MOML  0.250 (1/2)    –\n" in text
    assert "the first one again: mloml again" in text and "in short: as expected" in text
