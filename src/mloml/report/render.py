"""An artefact's words: the template beside its module as Markdown, as HTML, and as captions for LaTeX."""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup
from markupsafe import escape as markup

from mloml.report.document import MARKS, Artefact, Entry, Figure, Grid, Row, number

TEMPLATES = PackageLoader("mloml.report", "templates")
# Columns whose entries are an algorithm's config name, for which its title is printed.
NAMES = ("algorithm", "reference", "activation")
# Longer tables, mostly numbers behind a curve, are named, not shown: pages must be easy to send.
MOST_ROWS = 160
# Longer tables are folded on the HTML page, unless they are an artefact's first.
FEW_ROWS = 14
# Longer texts are no numbers with marks.
MOST_LETTERS = 40


class Words(NamedTuple):
    """What a template says; ``captions`` holds the paragraphs below each table, without markup.

    ``card`` is the artefact's number and, after a bar, what it counts;
    ``bars`` are titles and numbers of verdicts by word. Both are for the first screen of the HTML page.
    """

    headline: str
    card: str
    bars: list[tuple[str, dict[str, int]]]
    markdown: str
    html: str
    captions: dict[str, list[str]]


def render(artefact: Artefact, template: Path | None, context: Mapping[str, Any]) -> Words:
    """Render an artefact's template; without one, its tables and figures follow each other."""
    values, titles = {**context, **artefact.values}, context["titles"]
    plain, html = Plain(artefact, titles), Html(artefact, titles)
    (headline, card), _ = plain.page(template, values)
    _, markdown = Markdown(artefact, titles).page(template, values)
    text = html.finished(html.page(template, values)[1])
    return Words(headline, card, plain.bars, markdown, text, plain.captions)


class Plain:
    """Words without tables and pictures: for a terminal, and for the captions of LaTeX's tables."""

    def __init__(self, artefact: Artefact, titles: Mapping[str, str]) -> None:
        self.titles = titles
        self.figures = {figure.name: figure for figure in artefact.figures}
        self.tables: dict[str, pd.DataFrame | Grid] = {t.name: t.latex or t.numbers for t in artefact.tables}
        self.tables |= {f.name: f.numbers for f in artefact.figures if f.numbers is not None}
        self.headings = {table.name: table.title for table in artefact.tables}
        self.headings |= {figure.name: figure.title for figure in artefact.figures}
        self.captions: dict[str, list[str]] = {}
        self.bars: list[tuple[str, dict[str, int]]] = []
        self.mentioned: set[str] = set()

    def page(self, template: Path | None, context: Mapping[str, Any]) -> tuple[list[str], str]:
        """Return headline and card, and the whole page."""
        folders = [FileSystemLoader(template.parent)] if template else []
        environment = Environment(
            loader=ChoiceLoader([*folders, TEMPLATES]),
            undefined=StrictUndefined,
            finalize=lambda value: value if isinstance(value, Markup) else self.escape(value),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"number": number, "percent": lambda share: f"{100 * share:.0f} %"}
        environment.globals |= {"table": self.table, "figure": self.figure, "rest": self.rest, "code": code}
        environment.globals |= {
            "names": [*self.headings],
            "figures": self.figures,
            "bar": self.bar,
            "trial": "",
        }
        found = environment.get_template(template.name if template else "artefact.md")
        everything = found.new_context(dict(context))
        blocks = [found.blocks.get(name, lambda _: "")(everything) for name in ("headline", "card")]
        if context.get("trial"):
            blocks[0] = str(context["trial"])
        text = re.sub(r"\n{3,}", "\n\n", found.render(context))
        return [" ".join("".join(words).split()) for words in blocks], text.strip() + "\n"

    def escape(self, value: object) -> str:
        """Return a value as it stands in the text."""
        return str(value)

    def table(self, what: str | pd.DataFrame | Grid, caller: Callable[[], str] | None = None) -> Markup:
        """Print a table of the artefact, by its name, or any other; a ``call`` block is its caption."""
        numbers = self.tables[what] if isinstance(what, str) else what
        name = what if isinstance(what, str) else ""
        return self._place(name, caller, lambda words: self.draw_table(numbers, name, words))

    def figure(self, name: str, caller: Callable[[], str] | None = None) -> Markup:
        """Print a figure of the artefact; a ``call`` block is its caption."""
        figure = self.figures[name]
        return self._place("", caller, lambda words: self.draw_figure(figure, words))

    def bar(self, title: str, counts: Mapping[str, int]) -> str:
        """Keep numbers of verdicts, by word, for the HTML page; these words are badges in its tables."""
        self.bars.append((title, {word: count for word, count in counts.items() if count}))
        return ""

    def rest(self) -> Markup:
        """Print what tables the text did not mention."""
        left = [name for name in self.tables if name not in self.mentioned]
        return Markup(self.draw_rest(left) if left else "")

    def _place(self, name: str, caller: Callable[[], str] | None, draw: Callable[[list[str]], str]) -> Markup:
        words = paragraphs(caller()) if caller else []
        if name:
            self.captions[name] = words
            self.mentioned.add(name)
        return Markup(f"\n\n{draw(words)}\n\n")

    def draw_table(self, numbers: pd.DataFrame | Grid, name: str, words: list[str]) -> str:
        """Return a table with its caption and remarks."""
        return ""

    def draw_figure(self, figure: Figure, words: list[str]) -> str:
        """Return a figure with its caption."""
        return ""

    def draw_rest(self, names: Sequence[str]) -> str:
        """Return a list of tables."""
        return ""


class Markdown(Plain):
    """A page to read in a repository or an editor."""

    def escape(self, value: object) -> str:
        """Keep a value from being read as markup."""
        return escape(str(value))

    def draw_table(self, numbers: pd.DataFrame | Grid, name: str, words: list[str]) -> str:
        """Return the caption, a table in pipes, footnotes and remarks."""
        if isinstance(numbers, Grid):
            table = grid_to_markdown(numbers)
        elif len(numbers) <= MOST_ROWS:
            table = frame_to_markdown(numbers, self.titles)
        else:
            table = f"[{name}.csv]({name}.csv) has {len(numbers)} rows."
        return "\n\n".join([*words[:1], table, *words[1:]])

    def draw_figure(self, figure: Figure, words: list[str]) -> str:
        """Return a link to the picture, and its caption."""
        shown = (
            f"![{figure.title}]({figure.name}.png)" if figure.ready else "(Drawn when all cells are there.)"
        )
        return "\n\n".join([shown, *words])

    def draw_rest(self, names: Sequence[str]) -> str:
        """Return links to the files."""
        lines = [f"- [{name}.csv]({name}.csv): {escape(self.headings[name] or name)}" for name in names]
        return "\n".join(["## Numbers", "", *lines])


class Html(Markdown):
    """A part of the HTML page. Tables and figures are put in place of tokens once Markdown is HTML."""

    def __init__(self, artefact: Artefact, titles: Mapping[str, str]) -> None:
        super().__init__(artefact, titles)
        environment = Environment(loader=TEMPLATES, autoescape=True, trim_blocks=True)
        environment.filters["inline"] = lambda text: Markup(_markdown.renderInline(text))
        environment.filters["marked"] = _marked
        self._macros: Any = environment.get_template("table.html").module
        self._token = secrets.token_hex(8)
        self._parts: dict[str, str] = {}

    def finished(self, text: str) -> str:
        """Return the page's text as HTML: the first picture, the first table, then all else in its place.

        The title is the page's own; a heading without anything below it goes.
        """
        html = re.sub(r"(</?h)2>", r"\g<1>3>", _markdown.render(text.partition("\n")[2]))
        for kind in ("table", "figure"):
            first = next((f"<p>{token}</p>" for token in self._parts if token.startswith(kind)), "")
            html = first + html.replace(first, "", 1)
        html = re.sub(r"<h[3-6]>[^<]*</h[3-6]>\s*(?=<h3>|$)", "", html)
        return re.sub(rf"<p>(\w+-{self._token}-\d+)</p>", lambda found: self._parts[found[1]], html)

    def draw_table(self, numbers: pd.DataFrame | Grid, name: str, words: list[str]) -> str:
        """Return the token of a table; a long one is folded, unless it is the first."""
        rows = [*numbers.rows, *numbers.uncounted] if isinstance(numbers, Grid) else numbers
        fold = len(rows) > FEW_ROWS and any(token.startswith("table") for token in self._parts)
        return self._keep("table", self.drawn(numbers, name, words, fold))

    def draw_figure(self, figure: Figure, words: list[str]) -> str:
        """Return the token of a picture; the page puts the file's content into it."""
        return self._keep("figure", self._macros.figure(figure, words))

    def draw_rest(self, names: Sequence[str]) -> str:
        """Return the token of places for folded tables, which the page reads from their files."""
        places = (f'<div data-csv="{name}">{markup(self.headings.get(name, ""))}</div>' for name in names)
        return self._keep("rest", "".join(places))

    def _keep(self, kind: str, html: str) -> str:
        token = f"{kind}-{self._token}-{len(self._parts)}"
        self._parts[token] = html
        return token

    def drawn(self, numbers: pd.DataFrame | Grid, name: str, words: list[str], fold: bool) -> Markup:
        """Return a table as HTML."""
        words = words or [self.headings.get(name, "")]
        if isinstance(numbers, Grid):
            drawn: Markup = self._macros.grid(numbers, MARKS, name, words, fold)
        elif len(numbers) > MOST_ROWS:
            drawn = self._macros.too_long(name, len(numbers))
        else:
            rows = printed(numbers, self.titles)
            kinds = ["number" if kind.kind in "if" else "" for kind in numbers.dtypes]
            badges = {word for _, counts in self.bars for word in counts}
            drawn = self._macros.frame(_headings(numbers), rows, kinds, name, words, fold, badges)
        return drawn


def _marked(text: str) -> Markup:
    """Return a cell's text as HTML: a mark behind a number has a place, which is as wide without one."""
    html = _markdown.renderInline(text)
    if re.match(r"[-−+]?\.?\d", text) and len(text) < MOST_LETTERS:
        html = re.sub(r"(?<=[\d)]) ?(\([•◦]\)|[•◦↑↓†]|)(?= /|$)", r'<span class="mark">\1</span>', html)
    return Markup(html)


_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text, each on one line."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def code(text: str) -> Markup:
    """Return a text as code, in which nothing is markup."""
    return Markup(f"`{text}`")


def escape(text: str) -> str:
    r"""Keep a text from being read as markup or as the end of a table cell; `code` stays as it is.

    >>> print(escape("spect* of `spect_paper` | mloml_r"))
    spect\* of `spect_paper` \| mloml\_r
    """
    pieces = re.split(r"(`[^`|]*`)", text.replace("\n", " "))
    return "".join(piece if i % 2 else re.sub(r"([|*_<])", r"\\\1", piece) for i, piece in enumerate(pieces))


def printed(frame: pd.DataFrame, titles: Mapping[str, str] | None = None) -> list[list[str]]:
    """Return the entries of a frame as texts: four digits, titles for algorithms, nothing for a gap.

    >>> printed(pd.DataFrame({"algorithm": ["moml"], "p": [0.123456], "n": [3]}), {"moml": "MOML"})
    [['MOML', '0.1235', '3']]
    """
    names = [str(name) for name in frame.columns]
    rows = (zip(row, names, strict=True) for row in frame.to_numpy(object))
    return [[_printed(value, name, titles or {}) for value, name in row] for row in rows]


def _printed(value: Any, column: str, titles: Mapping[str, str]) -> str:
    if pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e6 else f"{value:.4g}"
    return titles.get(str(value), str(value)) if column in NAMES else str(value)


def _headings(frame: pd.DataFrame) -> list[str]:
    return [str(name).replace("_", " ") for name in frame.columns]


def frame_to_markdown(frame: pd.DataFrame, titles: Mapping[str, str] | None = None) -> str:
    r"""Return a frame as a Markdown table.

    >>> print(frame_to_markdown(pd.DataFrame({"algorithm": ["a|b"], "wins": [3]})))
    | algorithm | wins |
    |---|---|
    | a\|b | 3 |
    """
    header, *lines = ([escape(text) for text in row] for row in (_headings(frame), *printed(frame, titles)))
    return table_lines(header, lines)


def grid_to_markdown(grid: Grid) -> str:
    """Return a grid as a Markdown table; the best mean of a row is bold, footnotes are letters.

    >>> from mloml.report.document import Column
    >>> row = Row("iris", "iris", (Entry(0.038, 0.016, "win"), Entry(0.026, 0.017, best=True)))
    >>> columns = (Column("euclidean", "Euclidean"), Column("mloml_r", "MLOML-r"))
    >>> print(grid_to_markdown(Grid("t", columns, (row,), counts=("1/0/0", ""))))
    | dataset | Euclidean | MLOML-r |
    |---|---|---|
    | iris | .038±.016• | **.026±.017** |
    | *win/tie/loss* | 1/0/0 |  |
    """
    letters = grid.footnotes()

    def noted(text: str, note: str) -> str:
        return f"{text}<sup>{letters[note]}</sup>" if note else text

    def entry(cell: Entry) -> str:
        text = escape("±".join(cell.numbers()))
        return noted((f"**{text}**" if cell.best else text) + MARKS.get(cell.mark, ""), cell.note)

    def line(row: Row) -> list[str]:
        return [noted(escape(row.title), row.note), *map(entry, row.entries)]

    lines = [line(row) for row in grid.rows]
    if any(grid.counts):
        lines.append(["*win/tie/loss*", *grid.counts])
    if grid.uncounted:
        lines.append(["*not counted:*"] + [""] * len(grid.columns))
        lines += [line(row) for row in grid.uncounted]
    header = [grid.corner, *(noted(escape(column.heading), column.note) for column in grid.columns)]
    notes = "\n".join(f"<sup>{letter}</sup> {escape(note)}  " for note, letter in letters.items())
    return "\n\n".join(filter(None, [table_lines(header, lines), notes]))


def table_lines(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table of ready texts."""
    rule = "|" + "---|" * len(header)
    first, *rest = (f"| {' | '.join(row)} |" for row in (header, *lines))
    return "\n".join([first, rule, *rest])
