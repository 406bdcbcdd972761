"""Text in, table out; what cannot be used is named by file, line and column."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mloml.datasets.dataset import Table
from mloml.datasets.read import read_arff, read_csv, read_delimited
from mloml.errors import DataFormatError


def csv(text: str, **options: object) -> Table:
    return read_csv(io.BytesIO(text.encode()), where="own.csv", **options)


def arff(text: str, **options: object) -> Table:
    return read_arff(io.BytesIO(text.encode()), where="own.arff", **options)


@given(st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3), min_size=1, max_size=30))
def test_numbers_come_back_bit_by_bit(rows):
    text = "a,b,c,label\n" + "".join(",".join(map(repr, row)) + ",x\n" for row in rows)
    np.testing.assert_array_equal(csv(text).X, np.array(rows))


def test_the_label_may_be_any_column_and_quoted():
    assert csv('kind,"a, b",c\n"it, is",1,2\nno,3,4\n', label="kind").labels == ["it, is", "no"]
    assert csv("f1,label,f2\n1,x,2\n").X.tolist() == [[1, 2]]
    for separator in ",;\t":
        assert csv("f1,f2,kind\n1,2,x\n".replace(",", separator)).labels == ["x"]


def test_numbers_may_be_names_of_columns_and_blanks_may_follow_separators():
    assert csv("0,1,label\n5,6,x\n").X.tolist() == [[5, 6]]
    assert csv("a,7,label\n5,6,x\n").X.tolist() == [[5, 6]]
    assert csv('a, label\n5, "x, y"\n').labels == ["x, y"]


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm():
    table = read_csv(io.BytesIO(b"\xef\xbb\xbflabel,a\r\nx,1\r\n"), where="own.csv")
    assert (table.labels, table.X.tolist()) == (["x"], [[1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,label\n1,2,x\n1,?,x\n", r"own.csv, line 3, column 'b': missing value '\?'"),
        ("a,b,label\n1,,x\n", "line 2, column 'b': missing value ''"),
        ("a,b,label\n1,NaN,x\n", "line 2, column 'b': missing value 'NaN'"),
        ("1,2,3\n4,5,6\n", "the first line .* holds numbers"),
        ("a,b,label\n1,inf,x\n", "line 2, column 'b': 'inf' is not a finite number"),
        ("a,b,label\n1,2,x\n1,red,x\n", "line 3, column 'b': 'red' is not a number"),
        ("a,b,label\n1,,x\n1,red,x\n", r"in 'b' \(such as 'red'\).*dataset.ignore=\[b\]"),
        ("id,b,town,label\nu7,1,Bonn,x\nu8,2,Ulm,y\n", r"in 'id', 'town' .*dataset.ignore=\[id,town\]"),
        ("a,b,a,label\n1,2,3,x\n", "2 columns are called 'a'"),
        ("a,b,label\n1,2\n", "line 2: 2 values instead of 3"),
        ("a,b,label\n", "no rows of data"),
        (
            "a,b,label\n1,2,\n",
            "line 2, column 'label': missing label ''; fill it, or leave such rows out: dataset.missing=drop",
        ),
        ("a;b;label\n1;2,5;x\n", "column 'b': '2,5' is not a number; decimals need a point"),
        (f"a,label\n{'9' * 400},x\n", "column 'a': '9{40}…' is not a finite number"),
        ("", "^own.csv: is empty"),
        (f"{'z' * 400}\n", r"the first line \('z{40}…'\) does not name at least two columns"),
        ("5.1,3.5,setosa\n4,3,virginica\n", r"the first line \('5.1,3.5,setosa'\) holds numbers, not names"),
        ("a,b\n1\0,2\n", "binary data"),
    ],
)
def test_what_cannot_be_used_is_named(text, message):
    with pytest.raises(DataFormatError, match=message):
        csv(text)


def test_an_error_beyond_the_first_chunk_still_names_its_line():
    with pytest.raises(DataFormatError, match="line 5002, column 'a': 'oops'"):
        csv("a,label\n" + "1,x\n" * 5000 + "oops,x\n")


def test_blank_lines_comments_and_values_of_several_lines_are_counted():
    with pytest.raises(DataFormatError, match="line 5, column 'a': 'oops'"):
        csv("a,label\n\n1,x\n\noops,x\n")
    with pytest.raises(DataFormatError, match="line 5: 3 values instead of 2"):
        csv('a,label\n1,"two\nlines"\n\n1,2,3\n')
    with pytest.raises(DataFormatError, match="line 7, column 'a': 'oops'"):
        arff("@attribute a real\n@attribute c {x,y}\n@data\n% no\n\n1,x\noops,x\n")
    with pytest.raises(DataFormatError, match="line 3, column '2': 'oops'"):
        read_delimited(io.BytesIO(b"L,1\n\nR,oops\n"), where="x", label="first")


def test_the_column_taken_for_the_label_is_named_when_it_is_not_the_right_one():
    taken = "; the label is read from the last column, 'b', unless dataset.label names another"
    with pytest.raises(DataFormatError, match=f"in 'kind' .*{taken}"):
        csv("kind,a,b\nx,1,2\n")
    with pytest.raises(DataFormatError, match=f"line 3, column 'kind': 'x' is not a number{taken}"):
        csv("kind,a,b\n7,1,2\nx,1,2\n")
    with pytest.raises(DataFormatError, match=r"dataset.ignore=\[a\]$"):
        csv("a,kind\nx,1\n", label="kind")
    unknown = r"no column 'kid' \(dataset.label\); it has a, kind; did .*'kind'"
    with pytest.raises(DataFormatError, match=unknown):
        csv("a,kind\n1,2\n", label="kid")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_told_from_what_is_no_text(encoding):
    with pytest.raises(DataFormatError, match=r"^own.csv: is not UTF-8; save it as UTF-8 text \("):
        read_csv(io.BytesIO("a,label\n1,größe\n".encode(encoding)), where="own.csv")
    with pytest.raises(DataFormatError, match=r"^own.csv: holds binary data"):
        read_csv(io.BytesIO(b"a\0,b\n"), where="own.csv")


def test_rows_with_missing_values_can_be_left_out():
    table = csv("a,b,label\n1,2,x\n3,?,y\n5,6,z\n", missing="drop")
    assert (table.X.tolist(), table.labels, table.dropped) == ([[1, 2], [5, 6]], ["x", "z"], 1)


def test_columns_to_ignore_are_neither_features_nor_looked_at_for_missing_values():
    text = "id,a,note,label\nu7,1,?,x\nu8,?,new,y\n"
    table = csv(text, ignore=["id", "note"], missing="drop")
    assert (table.X.tolist(), table.labels, table.dropped) == ([[1]], ["x"], 1)
    attributes = "@attribute id string\n@attribute a real\n@attribute c {x,y}\n@attribute b real\n"
    table = arff(f"{attributes}@data\nu7,1,x,2\n", ignore=["id", "b"])
    assert (table.X.tolist(), table.labels) == ([[1]], ["x"])  # the last column of those left
    with pytest.raises(DataFormatError, match=r"no column 'idd' \(dataset.ignore\); .*did you mean 'id'"):
        csv(text, ignore=["idd"])
    for options in ({"ignore": ["label"], "label": "label"}, {"ignore": ["id", "a", "note", "label"]}):
        with pytest.raises(DataFormatError, match="column 'label' holds the label"):
            csv(text, **options)


def test_delimited_files_have_their_label_first_or_last():
    first = read_delimited(io.BytesIO(b"L, 1, 2\nR, 3, 4"), where="x", label="first")
    last = read_delimited(io.BytesIO(b"77,1,2,L\n78,3,4,R\n"), label="last", skip=1, where="x")
    assert first.X.tolist() == last.X.tolist() == [[1, 2], [3, 4]]
    assert first.labels == last.labels == ["L", "R"]


def test_arff_names_may_be_quoted_and_values_too():
    text = "@RELATION r\n@ATTRIBUTE 'my x' REAL\n@ATTRIBUTE \"c\" {'a b',d}\n@DATA\n1.5,'a b'\n% no\n2,d\n"
    table = arff(text, label="c")
    assert (table.X.tolist(), table.labels) == ([[1.5], [2]], ["a b", "d"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>", "no @data line"),
        ("@attribute a real\n@data\n1\n", "fewer than two attributes"),
        ("@attribute a real\n@attribute c {x,y}\n@data\n{0 1, 1 x}\n", "sparse"),
        ("@attribute a real\n@attribute c {x,y}\n@data\n?,x\n", "line 4, column 'a': missing value"),
    ],
)
def test_arff_that_cannot_be_used_is_named(text, message):
    with pytest.raises(DataFormatError, match=message):
        arff(text)
