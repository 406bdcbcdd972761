"""Time left, and what is printed of it."""

import io
from types import SimpleNamespace

from rich.console import Console

from mloml.experiments.progress import Board, Estimate


def a_cell(dataset, algorithm="moml"):
    return SimpleNamespace(dataset=dataset, algorithm=SimpleNamespace(name=algorithm))


def a_record(dataset, seconds, algorithm="moml"):
    return {"dataset": dataset, "algorithm": algorithm, "seconds": {"total": seconds}}


def test_nothing_is_guessed_before_anything_is_known():
    assert Estimate([a_cell("iris")], workers=1).seconds_left() is None


def test_nothing_is_guessed_while_an_algorithm_has_not_been_seen():
    estimate = Estimate([a_cell("iris", "euclidean"), a_cell("iris"), a_cell("wine")], workers=1)
    estimate.learn(a_record("iris", 0.01, "euclidean"))
    estimate.count_off(a_cell("iris", "euclidean"))
    assert estimate.seconds_left() is None
    estimate.learn(a_record("iris", 5.99))
    assert estimate.seconds_left() == 5.99 + 3.0  # on wine the mean of both


def test_time_that_is_used_up_is_not_shown_as_none_left():
    cells = [a_cell("iris"), a_cell("iris")]
    with Board(Console(file=io.StringIO()), cells, workers=1) as board:
        board.estimate.learn(a_record("iris", 0.2))
        board.count(cells[0], failed=False)
        assert board.words() == "0:00:00 gone"


def test_cells_cost_what_others_of_their_kind_cost():
    estimate = Estimate([a_cell("iris")] * 10 + [a_cell("waveform")] * 2, workers=2)
    estimate.learn(a_record("iris", 1.0))
    estimate.learn(a_record("iris", 3.0))
    estimate.learn(a_record("waveform", 100.0))
    assert estimate.seconds_left() == (10 * 2.0 + 2 * 100.0) / 2
    estimate.count_off(a_cell("waveform"))
    assert estimate.seconds_left() == (10 * 2.0 + 1 * 100.0) / 2


def test_an_unknown_kind_costs_the_mean_of_the_known_kinds():
    estimate = Estimate([a_cell("pems")] * 3, workers=1)
    estimate.learn(a_record("iris", 1.0))
    estimate.learn(a_record("waveform", 9.0))
    assert estimate.seconds_left() == 3 * 5.0


def test_more_workers_than_cells_do_not_help():
    estimate = Estimate([a_cell("iris")], workers=128)
    estimate.learn(a_record("iris", 7.0))
    assert estimate.seconds_left() == 7.0


def test_without_a_terminal_plain_lines_tell_the_progress():
    output = io.StringIO()
    cells = [a_cell("iris"), a_cell("wine")]
    with Board(Console(file=output), cells, workers=1) as board:
        board.estimate.learn(a_record("iris", 1.0))
        board.count(cells[0], failed=False)
        board.count(cells[1], failed=True)
    assert output.getvalue() == "2/2 cells (100 %), 0:00:00 gone, 1 failed\n"


def test_on_a_terminal_a_bar_tells_the_time_left():
    output = io.StringIO()
    cells = [a_cell("iris"), a_cell("wine")]
    with Board(Console(file=output, force_terminal=True, width=120), cells, workers=1) as board:
        board.estimate.learn(a_record("iris", 60.0))
        board.count(cells[0], failed=False)
    assert "1/2" in output.getvalue()
    assert "about 0:01:00 left" in output.getvalue()
