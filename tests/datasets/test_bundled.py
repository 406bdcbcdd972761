"""The bundled sets: shapes, counts, single rows known from UCI's files, and the rule of docs/beyond.md."""

import hashlib
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

from mloml.config.compose import compose_study
from mloml.datasets import Dataset, DataSettings, catalogue, load
from mloml.datasets.generated import FILES
from tools.bundle.beyond import COPIES, sampled, without_rare_classes
from tools.bundle.files import Content

ROOT = Path(__file__).parents[2]
KNOWN = catalogue()
PAPER = ["iris", "wine", "spect", "ionosphere", "breast", "pima"]
NAMES = [dataset.name for dataset in compose_study("beyond").datasets]
"""The data sets that the paper never saw."""


@cache
def bundled(name: str) -> Dataset:
    return load(KNOWN[name], DataSettings(source="bundled"))


STREAMS = ["elec", "noaa_weather", "covtype", "flights", "seattle"]


@pytest.mark.parametrize("name", [*PAPER, *NAMES, *STREAMS])
def test_shape_and_class_counts_are_the_catalogues(name):
    config, data = KNOWN[name], bundled(name)
    assert data.X.shape == (config.rows, config.features)
    assert data.counts() == config.class_counts
    assert (data.X.dtype, data.X.flags.c_contiguous, data.y.dtype) == (np.float64, True, np.int64)
    assert (data.source, data.regenerated) == ("bundled", False)


def test_iris_is_fishers_table_where_uci_has_typing_errors():
    X = bundled("iris").X
    assert X[34].tolist() == [4.9, 3.1, 1.5, 0.2]  # UCI: 4.9 3.1 1.5 0.1
    assert X[37].tolist() == [4.9, 3.6, 1.4, 0.1]  # UCI: 4.9 3.1 1.5 0.1


def test_spect_is_ucis_training_part_then_its_test_part():
    y = bundled("spect").y
    assert np.bincount(y[:80]).tolist() == [40, 40]
    assert np.bincount(y[80:]).tolist() == [15, 172]


# Counts of the whole sets, as UCI and the ELENA project document them; page-blocks as KEEL has it.
WHOLE = {
    "letter": [
        *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
        *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
    ],
    "magic": [12332, 6688],
    "page_blocks": [4913, 329, 28, 87, 115],
    "penbased": [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055],
    "phoneme": [3818, 1586],
    "satimage": [1533, 703, 1358, 626, 707, 1508],
    "spambase": [2788, 1813],
    "texture": [500] * 11,
}


def test_at_least_sixteen_sets_are_taken_and_each_can_be_rebuilt():
    assert len(NAMES) == len(set(NAMES)) >= 16
    assert list(COPIES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_set_fits_the_rule(name):
    X, y, counts = bundled(name).X, bundled(name).y, bundled(name).counts()
    assert 100 <= len(X) <= 3000 and X.shape[1] <= 100
    assert 2 <= len(counts) <= 26 and min(counts.values()) >= 10
    assert (len(X) == 3000) == (name in WHOLE)  # larger ones are sampled
    distinct = np.array([len(np.unique(column)) for column in X.T])
    assert np.mean(distinct > 5) >= 0.75
    rows = np.column_stack([X, y])
    assert len(rows) - len(np.unique(rows, axis=0)) <= len(rows) / 4


def test_no_set_shares_rows_with_the_papers_those_of_the_defaults_or_another_taken():
    others = {name: bundled(name).X for name in PAPER}
    others |= {"digits": load_digits().data, "breast_cancer": load_breast_cancer().data}
    everything = others | {name: bundled(name).X for name in NAMES}
    rows = {name: {row.tobytes() for row in X} for name, X in everything.items()}
    for taken in NAMES:
        for name in rows.keys() - {taken}:
            assert not rows[taken] & rows[name], (taken, name)


@pytest.mark.parametrize("name", WHOLE)
def test_a_sample_has_3000_rows_in_the_proportions_of_the_whole(name):
    counts, whole = np.array(list(bundled(name).counts().values())), np.array(WHOLE[name])
    assert counts.sum() == 3000
    assert np.abs(counts - 3000 * whole / whole.sum()).max() < 1


@pytest.mark.parametrize(
    ("name", "label", "first"),
    [
        ("breast", "2", [5, 1, 1, 1, 2, 1, 3, 1, 1]),
        ("ionosphere", "g", [1, 0, 0.99539, -0.05889]),
        ("pima", "1", [6, 148, 72, 35, 0, 33.6, 0.627, 50]),
        ("glass", "1", [1.52101, 13.64, 4.49, 1.10, 71.78, 0.06, 8.75, 0, 0]),
        ("newthyroid", "1", [107, 10.1, 2.2, 0.9, 2.7]),
        ("sonar", "R", [0.0200, 0.0371, 0.0428, 0.0207, 0.0954]),
        ("vehicle", "van", [95, 48, 83, 178, 72, 10, 162, 42, 20, 159, 176, 379, 184, 70, 6, 16, 187, 197]),
        ("vowel", "0", [-3.639, 0.418, -0.670, 1.779, -0.168, 1.627, -0.388, 0.529, -0.874, -0.814]),
        ("yeast", "MIT", [0.58, 0.61, 0.47, 0.13, 0.50, 0.00, 0.48, 0.22]),
    ],
)
def test_files_begin_as_ucis_do(name, label, first):
    assert bundled(name).X[0, : len(first)].tolist() == first
    assert bundled(name).labels[bundled(name).y[0]] == label


def test_every_file_has_the_checksum_stated_and_together_they_are_small():
    stated = dict(line.split()[::-1] for line in (FILES / "SHA256SUMS").read_text().splitlines())
    packed = {path.name: path.read_bytes() for path in FILES.iterdir() if path.name.endswith(".gz")}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in packed.items()} == stated
    assert sum(map(len, packed.values())) < 2_000_000


def test_the_pages_tables_list_the_same_sets_with_the_same_sizes():
    for page, suffix in ((ROOT / "docs/beyond.md", ""), (FILES / "README.md", ".csv.gz")):
        listed = re.findall(
            rf"^\| (\w+){re.escape(suffix)} \| ([\d,]+) x (\d+)", page.read_text(), re.MULTILINE
        )
        sizes = {name: (int(rows.replace(",", "")), int(features)) for name, rows, features in listed}
        assert {name: bundled(name).X.shape for name in NAMES}.items() <= sizes.items(), page
        assert set(sizes) - set(NAMES) <= {"spect", "pima", "ionosphere", "breast", *STREAMS}


def test_a_sample_is_stratified_repeatable_and_in_the_rows_order():
    rows = [[str(i), "rare" if i % 10 == 0 else "often"] for i in range(6000)]
    sample = sampled(Content(["f1", "label"], rows))
    numbers = [int(number) for number, _ in sample.rows]
    assert len(numbers) == len(set(numbers)) == 3000
    assert numbers == sorted(numbers)
    assert sum(number % 10 == 0 for number in numbers) == 300
    assert sampled(Content(["f1", "label"], rows)) == sample


def test_rare_classes_are_left_out_only_while_they_are_few_rows():
    often = [["1", "often"]] * 200
    kept = without_rare_classes(Content(["f1", "label"], [*often, *[["2", "rare"]] * 9]))
    assert kept.rows == often
    assert len(without_rare_classes(Content(["f1", "label"], [*often, *[["2", "ten"]] * 10])).rows) == 210
    with pytest.raises(ValueError, match="more than 5 %"):
        without_rare_classes(Content(["f1", "label"], [["1", "often"]] * 100 + [["2", "rare"]] * 9))
