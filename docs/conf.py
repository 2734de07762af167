"""How Sphinx builds the site: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import site_parts

from fairrec.core.version import __version__

project = "FairRec"
author = "The FairRec authors"
project_copyright = author
release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "site_parts"]
exclude_patterns = ["_build", "_live", "examples", "reproduction/*"]

# every link between pages is looked up, and one that leads nowhere is a warning; `make docs` makes
# warnings errors
nitpicky = True
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block"]
# notebooks are kept with what they showed, and run by tests
nb_execution_mode = "off"

autodoc_typehints = "none"
autodoc_member_order = "bysource"
maximum_signature_line_length = 90
default_role = "code"
smartquotes = False

html_theme = "pydata_sphinx_theme"
html_title = "FairRec"
html_static_path = ["_static"]
html_extra_path = [str(site_parts.LIVE)]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "github_url": "https://github.com/fairrec/fairrec",
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "glossary": []}
