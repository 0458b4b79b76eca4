"""Sphinx's configuration; `tox run -e docs` builds the site."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import pictures  # noqa: E402 - found by the line above
import reference_pages  # noqa: E402 - the same

import boto_waiters_plus  # noqa: E402 - the same

project = "boto_waiters_plus"
version = release = boto_waiters_plus.__version__
html_title = f"{project} {version}"
html_theme = "furo"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
html_static_path = ["static"]
html_css_files = ["site.css"]
pygments_dark_style = "github-dark"

myst_heading_anchors = 4

# Docstrings write names and code between single backticks: what is documented becomes a link.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 72
napoleon_use_ivar = True



def write_generated_files(_app):
    """Write what is made from the package: the pages of services, the pictures."""
    reference_pages.main([str(ROOT / "docs/reference")])
    pictures.main([str(ROOT / "docs/pictures")])


def setup(app):
    """Sphinx calls this first."""
    app.connect("builder-inited", write_generated_files)
