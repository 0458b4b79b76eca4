"""Sphinx's configuration; `tox run -e docs` builds the site."""

import re
import sys
from pathlib import Path
from typing import Any

from pygments.lexers import BashLexer
from sphinx.search import languages
from sphinx.search.en import SearchEnglish

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import effects_page  # noqa: E402 - found by the line above
import reference_pages  # noqa: E402 - the same
import screens_page  # noqa: E402 - the same
import waiter_coverage  # noqa: E402 - the same

import boto_waiters_plus  # noqa: E402 - the same

project = "boto_waiters_plus"
version = release = boto_waiters_plus.__version__
html_title = f"{project} {version}"
html_theme = "furo"
html_show_copyright = False
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


class HyphenSearch(SearchEnglish):
    """Finds `time-out` by "timeout", too."""

    def split(self, input: str) -> list[str]:
        """Return the words, and those with hyphens once more as one."""
        compounds = re.findall(r"\w+(?:-\w+)+", input)
        return [*super().split(input), *(word.replace("-", "") for word in compounds)]


languages["en"] = HyphenSearch


def write_generated_files(_app: Any) -> None:
    """Write the pages that are made from the package, which git ignores."""
    reference_pages.main([str(ROOT / "docs/reference")])
    effects_page.main([str(ROOT / "docs/effects.md")])
    screens_page.main([str(ROOT / "docs/screens.md")])
    waiter_coverage.main([str(ROOT / "docs/coverage.md")])


def find_public_name(app: Any, env: Any, node: Any, link: Any) -> Any:
    """Resolve a name of the package itself, which the docstrings of its modules write alone."""
    domain = env.domains["py"]
    name = f"{project}.{node['reftarget']}"
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, link)


def hide_colons(_app: Any, what: str, *facts: Any) -> None:
    """Keep napoleon from reading what stands before a colon as the type of an attribute."""
    if what in ("attribute", "property"):
        facts[-1][:] = [line.replace(":", "\N{RATIO}") for line in facts[-1]]


def show_colons(*facts: Any) -> None:
    """Undo `hide_colons` behind napoleon."""
    facts[-1][:] = [line.replace("\N{RATIO}", ":") for line in facts[-1]]


def without_reprs(*facts: Any) -> tuple[str | None, str | None]:
    """Return the signature with `...` for defaults such as `<factory>`, which are no Python."""
    signature, returns = facts[-2:]
    return signature and re.sub("<[^<>]*>", "...", signature), returns


def setup(app: Any) -> None:
    """Sphinx calls this first."""
    app.add_lexer("console", BashLexer)  # the commands have no prompts, and would be grey
    app.connect("builder-inited", write_generated_files)
    app.connect("missing-reference", find_public_name)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)  # napoleon's is 500
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("autodoc-process-signature", without_reprs)
