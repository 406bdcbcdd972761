"""Which source is taken, files of the user's, and datasets of one's own."""

import dataclasses
import gzip
import lzma
from pathlib import Path

import pytest

from mloml.config.compose import compose_study
from mloml.datasets import DatasetConfig, DataSettings, availability, catalogue, load, pin
from mloml.datasets.loading import sources_of
from mloml.errors import ConfigError, DataFormatError, DatasetUnavailableError
from mloml.paper import published

KNOWN = catalogue()
OFFLINE = DataSettings(offline=True)


def as_csv(name: str) -> bytes:
    data = load(KNOWN[name], OFFLINE)
    header = ",".join([*(f"f{i + 1}" for i in range(data.X.shape[1])), "label"])
    rows = (",".join([*map(repr, x.tolist()), data.labels[k]]) for x, k in zip(data.X, data.y, strict=True))
    return "\n".join([header, *rows, ""]).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_all_datasets_of_the_paper_its_two_variants_and_those_beyond_it_are_there():
    beyond = [dataset.name for dataset in compose_study("beyond").datasets]
    streams = {one.generator or one.name for one in compose_study("streams").datasets}
    assert {*published.table1()["dataset"], "spect_paper", "mlprove_paper", *beyond, *streams} == set(KNOWN)
    assert list(KNOWN) == sorted(KNOWN)


def test_every_dataset_states_its_licence_title_source_and_consistent_counts():
    for config in KNOWN.values():
        assert config.licence and config.title and (config.sources or config.base), config.name
        counts = config.class_counts.values()
        assert None in counts or sum(counts) == config.rows, config.name


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.xz"])
def test_a_csv_in_the_users_folder_comes_first(folder, suffix):
    pack = {".csv": bytes, ".csv.gz": gzip.compress, ".csv.xz": lzma.compress}[suffix]
    (folder / f"wine{suffix}").write_bytes(pack(as_csv("wine")))
    data = load(KNOWN["wine"], DataSettings(dir=str(folder)))
    assert data.source == "local"
    assert data.checksum == load(KNOWN["wine"], OFFLINE).checksum
    assert list(data.provenance["files"]) == [str(folder / f"wine{suffix}")]


def test_the_environment_names_the_folder_too(folder, monkeypatch):
    (folder / "wine.csv").write_bytes(as_csv("wine"))
    monkeypatch.setenv("MLOML_DATA", str(folder))
    assert load(KNOWN["wine"]).source == "local"
    assert load(KNOWN["iris"]).source == "bundled"


@pytest.mark.parametrize("place", ["", "spect/", "SPECT heart/"])
def test_ucis_original_files_in_the_folder_or_a_subfolder(folder, place):
    data = load(KNOWN["spect"], OFFLINE)
    lines = [f"{k}," + ",".join(str(int(v)) for v in x) for x, k in zip(data.X, data.y, strict=True)]
    (folder / place).mkdir(exist_ok=True)
    (folder / place / "SPECT.train").write_text("\n".join(lines[:80]))
    (folder / place / "SPECT.test").write_text("\n".join(lines[80:]) + "\n")
    found = load(KNOWN["spect"], DataSettings(dir=str(folder)))
    assert (found.source, found.checksum) == ("local", data.checksum)
    variant = load(KNOWN["spect_paper"], DataSettings(dir=str(folder)))
    assert (variant.source, variant.counts()) == ("local", {"0": 157, "1": 110})


def test_a_wrong_file_in_the_folder_is_an_error_and_not_passed_over(folder):
    (folder / "wine.csv").write_bytes(b"\n".join(as_csv("wine").split(b"\n")[:-2]))
    with pytest.raises(DataFormatError, match=r"wine\.csv: wine has 178 rows, this file 177"):
        load(KNOWN["wine"], DataSettings(dir=str(folder)))


def test_the_order_is_local_bundled_cache_network_generated():
    assert sources_of(KNOWN["iris"], OFFLINE) == ["local", "bundled", "ucimlrepo", "archive", "openml"]
    assert sources_of(KNOWN["waveform"], OFFLINE) == ["local", "ucimlrepo", "generated"]
    assert sources_of(KNOWN["iris"], DataSettings(source="uci")) == ["ucimlrepo", "archive"]
    assert sources_of(KNOWN["iris"], DataSettings(source="bundled")) == ["bundled"]


def test_what_is_missing_says_how_to_provide_it_in_one_line(tmp_path):
    with pytest.raises(DatasetUnavailableError) as caught:
        load(KNOWN["pems"], DataSettings(offline=True, cache=str(tmp_path)))
    message = str(caught.value)
    assert "\n" not in message
    for part in ("pems is missing", "pems.csv or PEMS_train", "MLOML_DATA", "mloml data fetch pems"):
        assert part in message
    with pytest.raises(DatasetUnavailableError, match="not in the folder of MLOML_DATA"):
        load(KNOWN["pems"], DataSettings(source="local"))
    with pytest.raises(DatasetUnavailableError, match=r"pima has no source 'uci' .*local, bundled, openml"):
        load(KNOWN["pima"], DataSettings(source="uci"))


def test_pinned_settings_give_the_same_data_without_looking_further(site, settings, folder, monkeypatch):
    data = load(KNOWN["waveform"], settings)  # every address answers 404
    asked = site.hits.total()
    assert asked > 0
    pinned = pin(data, settings)
    assert load(KNOWN["waveform"], pinned).checksum == data.checksum
    assert site.hits.total() == asked
    (folder / "wine.csv").write_bytes(as_csv("wine"))
    monkeypatch.chdir(folder.parent)
    relative = dataclasses.replace(settings, dir="data")
    pinned = pin(load(KNOWN["wine"], relative), relative)
    monkeypatch.chdir("/")
    assert load(KNOWN["wine"], pinned).source == "local"


def test_availability_is_told_without_loading(site, settings):
    names = ["iris", "balance", "diabetic", "mlprove_paper", "waveform"]
    told = [availability(KNOWN[name], settings) for name in names]
    assert told == ["bundled", "generated", *["not yet, fetch it"] * 2, "regenerated, or fetch it"]
    offline = dataclasses.replace(settings, offline=True)
    told = [availability(KNOWN[name], offline) for name in names]
    assert told == ["bundled", "generated", "missing", "missing", "regenerated"]
    assert site.hits.total() == 0


# -- a dataset of one's own ---------------------------------------------------------------------------


def own(path: Path, **changes: object) -> DatasetConfig:
    return DatasetConfig(name="csv", path=str(path), **changes)


def test_a_tsv_is_separated_by_tabs_whatever_its_names_hold(folder):
    (folder / "mine.tsv").write_text("a, b, c\tid\tkind\n1\tu7\tx\n2\tu8\ty\n3\tu9\tx\n4\tu1\ty\n")
    data = load(own(folder / "mine.tsv", ignore=["id"]))
    assert (data.name, data.X.tolist(), data.labels) == ("mine", [[1], [2], [3], [4]], ["x", "y"])
    with pytest.raises(ConfigError, match=r"dataset.ignore=\['id'\]"):
        DatasetConfig(name="iris", sources=["bundled"], ignore=["id"])


def test_a_dataset_of_ones_own_needs_no_code(folder):
    (folder / "mine.csv").write_text("species,a,b\nx,1,2\ny,3,4\nx,5,6\ny,7,8\n")
    data = load(own(folder / "mine.csv", label="species"))
    assert (data.X.shape, data.labels, data.source) == ((4, 2), ["x", "y"], "local")
    text = "@relation r\n@attribute a real\n@attribute c {x,y}\n@data\n1,x\n2,y\n3,x\n4,y\n"
    (folder / "mine.arff").write_text(text)
    assert load(own(folder / "mine.arff")).y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    "text", [b"no archive", gzip.compress(b"a,label\n1,x\n", mtime=0)[:20]], ids=["no", "cut"]
)
def test_a_packed_file_that_is_damaged_is_named_by_its_path(folder, text, monkeypatch):
    monkeypatch.chdir(folder)
    Path("mine.csv.gz").write_bytes(text)
    with pytest.raises(DataFormatError, match=r"^mine.csv.gz: damaged or cut short"):
        load(own(Path("mine.csv.gz")))


def test_a_path_that_is_absent_wrong_or_forgotten_is_named(folder):
    with pytest.raises(DatasetUnavailableError, match=r"dataset.path: .*no\.csv' is not a file"):
        load(own(folder / "no.csv"))
    (folder / "mine.pkl").write_bytes(b"")
    with pytest.raises(DataFormatError, match=r"mine.pkl' is none of \.csv"):
        load(own(folder / "mine.pkl"))
    with pytest.raises(ConfigError, match=r"dataset=csv needs .* dataset.path=FILE"):
        load(DatasetConfig(name="csv"))
