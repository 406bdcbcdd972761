"""The claim table as files: what it reads, what it says of what is missing, where its links lead."""

from __future__ import annotations

import json
import shutil
import subprocess

import pandas as pd
import pytest

from mloml.command_line import Command
from mloml.config.paths import repository
from mloml.report.artefacts.claims import RECIPE, claims_frame, linked, read
from mloml.report.claims import CLAIMS, VERDICTS, read_published
from mloml.report.document import Artefact, Figure, Table
from mloml.report.publish import publish
from mloml.report.recipe import recipes
from mloml.report.reproduce import reproduce


def test_an_empty_folder_names_a_command_for_every_claim(tmp_path):
    frame = claims_frame(read(tmp_path))
    assert set(frame["verdict"]) == {"not tested"}
    for row in frame.to_dict("records"):
        assert row["measured"] == f"not run yet: `{row['command']}`"


def test_tables_of_an_older_version_ask_for_another_run():
    claim = next(claim for claim in CLAIMS if claim.name == "layers")
    answer = claim.answer([pd.DataFrame({"dataset": ["iris"]})])
    assert answer.verdict == "not tested" and "run again: `make reproduce-fig5`" in answer.ours


def test_numbers_come_from_the_document_and_long_ones_from_the_csv(tmp_path):
    short, long = (pd.DataFrame({"x": range(n), "word": ""}) for n in (3, 1000))
    figure = Figure("drawn", "", "", lambda: None, short, ready=False)
    tables = (Table("short", "", short), Table("long", "", long))
    publish(Artefact("", tables=tables, figures=(figure,), name="fig5"), tmp_path / "fig5")
    (tmp_path / "fig5" / "short.csv").write_text("x\n99\n")  # the document comes first
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "growth.csv").write_text("x,word\n1,\n2,two\n")
    found = read_published(tmp_path, ["fig5/short", "fig5/drawn", "fig5/long", "bench/growth", "fig5/none"])
    assert [None if frame is None else len(frame) for frame in found.values()] == [3, 3, 1000, 2, None]
    assert found["fig5/short"]["x"].tolist() == [0, 1, 2]
    assert found["bench/growth"]["word"].tolist() == ["", "two"]


@pytest.mark.parametrize("content", ["", "[1]", '{"tables": 3}', '{"tables": [{}], "figures": []}'])
def test_a_damaged_document_counts_as_missing(tmp_path, content):
    (tmp_path / "table2").mkdir()
    (tmp_path / "table2" / "artefact.json").write_text(content)
    assert read_published(tmp_path, ["table2/tests"]) == {"table2/tests": None}


def test_the_command_reads_a_folder_and_writes_the_table_in_every_format(tmp_path, capsys):
    publish(Artefact("", tables=(_growth(),), name="bench"), tmp_path / "bench")
    command = Command("mloml", ("reproduce", "claims"))
    assert reproduce("claims", [f"execution.results={tmp_path}", "protocol=lite"], command) == 0
    assert "1 reproduced" in capsys.readouterr().out
    folder = tmp_path / "claims"
    frame = pd.read_csv(folder / "claims.csv")
    assert set(frame["verdict"]) == {"reproduced", "not tested"} and len(frame) == len(CLAIMS)
    markdown = (folder / "claims.md").read_text(encoding="utf-8")
    assert "[growth.csv](../bench/growth.csv), `make bench`" in markdown
    assert all(claim.rule in markdown.replace("\\", "") for claim in CLAIMS)
    document = json.loads((folder / "artefact.json").read_text(encoding="utf-8"))
    assert document["command"] == "mloml reproduce claims"


def test_a_trial_among_the_runs_is_named_and_every_run_is_listed(tmp_path):
    manifests = {"table2": "paper", "fig5": "lite", "beyond/clean": "clean", "mine": "lite"}
    for run, protocol in manifests.items():
        (tmp_path / run).mkdir(parents=True)
        content = {
            "config": {"protocol": {"name": protocol, "splits": 3}},
            "git": {"revision": "0123456789abcdef"},
        }
        (tmp_path / run / "manifest.json").write_text(json.dumps(content))
    (tmp_path / "table3").mkdir()
    (tmp_path / "table3" / "manifest.json").write_text("[")
    artefact = RECIPE.read(tmp_path)
    assert "(protocol `lite`), from which nothing follows: fig5." in artefact.headline
    runs = artefact.tables[1].numbers
    assert runs.set_index("run")["protocol"].to_dict() == {
        "table2": "paper", "table3": "", "fig5": "lite", "beyond/clean": "clean"
    }  # fmt: skip
    assert set(runs["revision"]) == {"0123456789ab", ""}


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_latex_table_compiles_and_fits_the_page(tmp_path):
    publish(RECIPE.read(tmp_path), tmp_path / "claims")
    run = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "claims.tex"],
        cwd=tmp_path / "claims", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-2000:]
    assert "Overfull \\hbox" not in run.stdout


def test_every_claim_names_a_command_a_verdict_rule_and_files_of_known_artefacts():
    root = repository()
    makefile = (root / "Makefile").read_text(encoding="utf-8") if root else ""
    known = {*recipes(), "bench"}
    for claim in CLAIMS:
        assert {claim.shows.split("/")[0], *(table.split("/")[0] for table in claim.tables)} <= known
        assert any(word in claim.rule for word in ("reproduced:", "false:"))
        assert claim.command.startswith("make ")
        for target in claim.command.split()[1:]:
            artefact = target.removeprefix("reproduce-")
            assert not makefile or artefact in known or f"\n{target}:" in makefile, target
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert set(VERDICTS) >= set(claims_frame({})["verdict"])


def test_the_claims_are_made_after_everything_they_read():
    assert list(recipes())[-1] == "claims"


def test_links_lead_from_the_claims_folder_to_the_files():
    untested = claims_frame({})
    tested = linked(untested.assign(verdict="false"), "results/reference")
    for text, bare, claim in zip(tested["where"], linked(untested)["where"], CLAIMS, strict=True):
        assert f"](results/reference/{claim.shows})" in text and f"`{claim.command}`" in text
        assert bare == f"`{claim.command}`"


def _growth() -> Table:
    frame = pd.DataFrame({"propagation": ["fp", "bp"], "exponent in features": [2.05, 2.1]})
    return Table("growth", "", frame)
