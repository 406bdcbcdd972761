"""How the pages are built: ``make docs``. Nothing is downloaded on the way."""

import os
import warnings
from pathlib import Path

import matplotlib.style

import mloml
from mloml.report.figures import style

project = "mloml"
author = "The mloml developers"
copyright = author
version = release = mloml.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "report/template.md",
    "report/findings.md",
    "_build",
    "examples",
    "_templates",
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
root_doc = "index"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False


def paper_look(gallery_conf, name):
    """Draw an example like the figures of the report."""
    matplotlib.style.use(Path(style.__file__).with_name("paper.mplstyle"))


sphinx_gallery_conf = {
    "reset_modules": ("matplotlib", paper_look),
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 1,
    "reference_url": {},
    "plot_gallery": os.environ.get("MLOML_GALLERY", "yes") == "yes",
}

# Inner modules that docstrings name for readers of the source; they have no page.
nitpick_ignore = [
    ("py:mod", "mloml.config.compose"),
    ("py:class", "mloml.learners.rows.SparseRows"),
    ("py:class", "mloml.learners.layers.Layer"),
    ("py:meth", "_new_state"),
    ("py:func", "one_row"),
]

html_theme = "pydata_sphinx_theme"
html_title = "mloml"
html_static_path: list[str] = []
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 5,  # more would not fit one line beside the search
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "changelog": [], "comparison": []}
suppress_warnings = ["config.cache", "toc.empty_glob"]

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
os.environ.setdefault("HYDRA_FULL_ERROR", "0")
