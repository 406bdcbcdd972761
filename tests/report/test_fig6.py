"""Figure 6: the plane is the principal plane, and the spaces are those of the chosen models."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from mloml.config.schema import Algorithm, ProtocolConfig, Study
from mloml.datasets import catalogue, load
from mloml.experiments.cell import Cell, run_cell
from mloml.experiments.study import StudyResult
from mloml.report.artefacts.fig6 import POINTS, SPACES, build, plane, project


def test_the_plane_is_the_principal_plane_of_the_normalised_rows():
    features = np.random.default_rng(2).normal(size=(40, 5))
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0))
    points, shares = plane(features)
    np.testing.assert_allclose(np.abs(points), np.abs(left[:, :2] * values[:2]), atol=1e-12)
    np.testing.assert_allclose(shares, values[:2] ** 2 / np.sum(values**2), atol=1e-6)
    np.testing.assert_allclose(points, plane(3 * features)[0], atol=1e-12)


def test_axes_of_the_next_space_do_not_flip():
    features = np.random.default_rng(3).normal(size=(60, 4)) * [3.0, 2.0, 1.0, 0.5]
    first, _ = plane(features)
    for signs in ([1, 1], [-1, 1], [1, -1], [-1, -1]):
        turned, _ = plane(1.01 * features, before=first * signs)
        np.testing.assert_allclose([np.corrcoef(turned[:, i], first[:, i])[0, 1] for i in (0, 1)], signs)


def test_spaces_are_those_of_the_chosen_models_layers():
    config = catalogue()["iris"]
    stack = Algorithm("mloml_r", "MLOML-r", "MLOML", {"gamma": 1e-2, "n_layers": 2})
    study = Study("fig6", [config], [stack], ProtocolConfig(splits=1, scans=1, folds=2))
    data = load(config, study.data)
    record = run_cell(Cell("iris", data.checksum, stack, study.protocol, 0), data)
    none = StudyResult(study, Path(), pd.DataFrame(), [], pd.DataFrame(), {})
    assert [list(frame.columns) for frame in project(none)] == [POINTS, SPACES]
    assert not build(none, project(none)).figures[0].ready
    points, spaces = project(replace(none, records=[record]))
    assert points.groupby("space", sort=False).size().to_dict() == {"input": 75, "layer 1": 75, "layer 2": 75}
    assert spaces["error"].iloc[-1] == record["error"] and set(spaces["gamma"]) == {1e-2}
    assert points["code"].iloc[:75].tolist() == points["code"].iloc[75:150].tolist()
