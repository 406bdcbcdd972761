"""Damaged cells in a run: every backend asks the store in the same way and comes to the same tables."""

import os
import random

import pytest
from tests.damages import damages

from mloml.experiments import cell_file

BACKENDS = [
    pytest.param({"backend": "local"}, id="local"),
    pytest.param({"backend": "dask"}, id="dask", marks=pytest.mark.slow),
    pytest.param({"backend": "slurm", "cluster": "local"}, id="slurm", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("execution", BACKENDS)
def test_damaged_cells_are_computed_again_and_other_things_in_their_place_fail_alone(
    lab, execution, assert_undisturbed, capsys
):
    lab.run()
    first, *rest, last = lab.stored()
    flipped, cut, impossible, swapped = rest
    content = {path: path.read_bytes() for path in lab.stored()}
    flipped.write_bytes(content[flipped].replace(b'"error":0.', b'"error":0.9'))
    cut.write_bytes(content[cut][:200])
    record = cell_file.unpack(content[impossible])
    impossible.write_bytes(cell_file.pack(record | {"error": float("nan")}))
    swapped.write_bytes(content[last])
    first.unlink()
    first.mkdir()
    last.unlink()
    os.mkfifo(last)

    result = lab.run(**execution)
    output = capsys.readouterr().out
    assert sorted(result.frame["status"]) == ["failed"] * 2 + ["ok"] * 4
    assert (result.computed, result.reused) == (4, 0)
    assert set(result.failures["error"]) == {"CellFileError"}
    assert set(result.failures["message"]) == {
        f"{first}: cannot be read (it is a folder)",
        f"{last}: cannot be read (it is a pipe or device)",
    }
    for path, reason in {
        flipped: "its checksum differs",
        cut: "it is truncated or no cell",
        impossible: "its error nan or its time",
        swapped: "it holds another cell",
    }.items():
        assert f"damaged: {path} is computed again ({reason}" in output

    first.rmdir()
    last.unlink()
    result = lab.run(**execution)
    assert (result.computed, result.reused) == (2, 4)
    assert_undisturbed()


@pytest.mark.slow
def test_of_a_thousand_random_damages_none_is_accepted_by_any_backend(lab):
    many = {"splits": 334, "algorithms": ["euclidean"]}
    expected = lab.run(**many).frame.drop(columns="seconds")
    paths, chance = lab.stored(), random.Random(12)
    for execution in (backend.values[0] for backend in BACKENDS):
        contents = [path.read_bytes() for path in paths]
        pairs = zip(contents, [*contents[1:], contents[0]], strict=True)
        for path, (_, content) in zip(paths, damages(pairs, chance), strict=True):
            path.write_bytes(content)
        result = lab.run(**many, **execution)
        assert (result.computed, result.reused) == (334, 0), execution
        assert result.frame.drop(columns="seconds").equals(expected), execution
