"""Signs of the principal axes: what moves is told from what does not."""

from dataclasses import replace

from mloml.config.schema import PcaConfig
from mloml.report.artefacts.signs import build


def test_a_row_per_choice_of_signs_and_the_range_over_random_ones(make_result):
    results, means = [], []
    for signs in (None, 1, 2):
        result = make_result(datasets=("iris",), algorithms=("euclidean", "moml"), splits=3)
        protocol = replace(result.study.protocol, pca=PcaConfig(signs=signs))
        moved = result.frame["error"] + 0.01 * (signs or 0) * (result.frame["algorithm"] == "moml")
        study = replace(result.study, protocol=protocol)
        results.append(replace(result, study=study, frame=result.frame.assign(error=moved)))
        means.append(moved[result.frame["algorithm"] == "moml"].mean())
    artefact = build(*results)
    frame = artefact.tables[0].frame
    assert frame["signs"].tolist() == ["fixed", "fixed", "1", "1", "2", "2"]
    assert frame.loc[frame["algorithm"] == "moml", "mean"].tolist() == means
    shown = artefact.values["ranges"].set_index("algorithm").loc["moml"]
    assert [shown["usual"], shown["smallest"], shown["largest"], shown["choices"]] == [*means, 2]
    assert artefact.values["moved"] == 1
