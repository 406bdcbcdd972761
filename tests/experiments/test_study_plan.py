"""Which cells a study consists of, and in what order they are computed."""

from dataclasses import replace

import pytest

from mloml.datasets import DatasetConfig, load
from mloml.errors import ConfigError
from mloml.experiments.splits import fold_indices, split_indices
from mloml.experiments.study import in_turn, make_plan


@pytest.mark.parametrize(("folds", "most"), [(2, 37), (5, 60)])
def test_there_are_at_most_as_many_neighbours_as_rows_to_take_them_from(lab, folds, most):
    study = lab.study()
    y = load(study.datasets[0], study.data).y
    rows = fold_indices(y[split_indices(y, 0, 0, "iris")[0]], 0, 0, "iris", folds)
    assert most == min(len(fit) for fit, _ in rows)
    protocol = replace(study.protocol, folds=folds, neighbours=most)
    assert len(make_plan(replace(study, protocol=protocol), print).cells) == 6
    with pytest.raises(
        ConfigError, match=rf"^protocol.neighbours={most + 1}: must be at most {most}, the rows"
    ):
        make_plan(replace(study, protocol=replace(protocol, neighbours=most + 1)), print)


def test_cells_are_computed_by_dataset_then_split_and_listed_by_algorithm(lab):
    study = replace(
        lab.study(datasets=["wine", "iris"], splits=2),
        leave_out=({"algorithms": ["two"], "datasets": ["iris"]},),
    )
    plan = make_plan(study, print)
    names = [(cell.dataset, cell.algorithm.name, cell.split) for cell in plan.cells]
    wine = [("wine", "one", 0), ("wine", "one", 1), ("wine", "two", 0), ("wine", "two", 1)]
    assert names == [*wine, ("iris", "one", 0), ("iris", "one", 1)]
    turns = [(cell.dataset, cell.algorithm.name, cell.split) for cell in in_turn(plan.cells)]
    assert turns[:4] == [wine[0], wine[2], wine[1], wine[3]]


def test_it_says_how_many_rows_were_dropped(lab, tmp_path):
    rows = [f"{i},{'?' if i in (3, 8, 9) else i % 5},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "gaps.csv").write_text("\n".join(["x,y,kind", *rows]))
    study, said = lab.study(), []
    own = DatasetConfig(name="gaps", path=str(tmp_path / "gaps.csv"), missing="drop")
    make_plan(replace(study, datasets=[own, *study.datasets]), said.append)
    assert len(said) == 1 and said[0].startswith("gaps: 3 rows") and " 37 " in said[0]


def test_workers_get_absolute_paths(lab, monkeypatch):
    monkeypatch.chdir(lab.folder)
    study = lab.study()
    plan = make_plan(replace(study, data=replace(study.data, cache="cache")), print)
    job = plan.job(plan.cells[0], lab.results.relative_to(lab.folder), "run")
    assert job.store == str(lab.results)
    assert job.data.cache == str(lab.folder / "cache")
