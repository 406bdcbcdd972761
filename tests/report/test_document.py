"""Footnotes of a grid; the rest of it is tested where grids are made."""

from mloml.report.document import Column, Entry, Grid, Row


def test_more_than_26_footnotes_still_have_letters_of_their_own() -> None:
    rows = tuple(Row(str(i), str(i), (Entry(note=f"note {i}"),)) for i in range(60))
    letters = list(Grid("", (Column("a", "A"),), rows).footnotes().values())
    assert len(set(letters)) == 60 and letters[25:28] == ["z", "aa", "ab"]
