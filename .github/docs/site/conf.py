"""Configuration of the documentation site; `stage.py` copies it beside the staged pages."""

import re

from sphinx.application import Sphinx

import bideuchre_env

project = "bideuchre_env"
author = "The bideuchre_env authors"
copyright = "the bideuchre_env authors"
release = version = bideuchre_env.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_argparse_cli",
]
source_suffix = {".md": "markdown"}
default_role = "code"
nitpicky = True
autodoc_mock_imports = [
    *("agilerl", "open_spiel", "pyspiel", "ray", "stable_baselines3"),
    *("tensordict", "tianshou", "torch", "torchrl"),
]

myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"bideuchre_env {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
autodoc_default_options = {"members": True, "exclude-members": "__init__, __new__"}
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
maximum_signature_line_length = 70
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
