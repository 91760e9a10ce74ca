"""How the documentation is built: ``make docs``, offline, warnings are errors."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import architecture
import results

from multifacet import __version__

project = "multifacet"
author = "The multifacet developers"
project_copyright = "the multifacet developers, BSD 3-Clause"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_build", "_ext", "_templates"]

html_theme = "furo"
html_title = f"multifacet {release}"
html_static_path = ["_static"]
html_css_files = ["multifacet.css"]
html_math_renderer = "mathml"
html_copy_source = False

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc sections say types in words
numpydoc_show_class_members = False  # the template of a class shows its methods in full
templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"workbench_api\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # that page would load scripts from outside
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
}


def setup(app):
    """Write what is generated before the pages are read."""
    app.connect("builder-inited", lambda app: architecture.write(HERE / "generated"))
    app.connect("builder-inited", lambda app: results.write(HERE / "generated" / "results"))
