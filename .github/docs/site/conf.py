"""Configuration of the documentation site; `stage.py` copies it beside the staged pages."""

import sys
from importlib.metadata import metadata
from pathlib import Path

from docutils.nodes import Element
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import bideuchre_env

sys.path.insert(0, str(Path(__file__).parent))  # for commands.py
project = "bideuchre_env"
author = copyright = "the bideuchre_env authors"
release = version = bideuchre_env.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_argparse_cli",
]
default_role = "code"
smartquotes_action = "De"  # dashes and ellipses, not the quotes of values
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 4

html_theme = "furo"
pygments_dark_style = "github-dark"  # furo's underlines the names of modules
html_title = f"bideuchre_env {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
addresses = dict(line.split(", ") for line in metadata("bideuchre_env").get_all("Project-URL"))
html_theme_options = {
    "footer_icons": [
        {"name": "Repository", "url": addresses["Repository"], "html": "GitHub", "class": ""}
    ]
}

autodoc_mock_imports = [  # the extras of the adapters
    *("agilerl", "open_spiel", "pyspiel", "ray", "sb3_contrib", "stable_baselines3", "tensordict"),
    "tianshou",
    *("torch", "torchrl"),
]
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_use_rtype = False  # signatures have the types
napoleon_custom_sections = [  # Gymnasium's, of classes of environments
    *("Description", "Action Space", "Observation Space", "Rewards", "Starting State"),
    *("Episode End", "Arguments", "Version History"),
]
maximum_signature_line_length = 70
python_use_unqualified_type_names = True

# With -n every type in a signature must have an entry on the site, but for these:
nitpick_ignore_regex = [
    # the standard library and other libraries; intersphinx would need the network
    (r"py:.*", r"(collections|gymnasium|numpy|os|pathlib|pettingzoo|ray|tensordict|tianshou)\..+"),
    (r"py:.*", r"torch\..+"),
    (r"py:class", r"\w+Keywords"),  # of options; the entry is that of the class of the options
]
nitpick_ignore = [
    ("py:class", name)
    for name in (
        # the same, imported for type checkers only
        *("AutoresetMode", "ParallelEnv", "PathLike", "Traversable", "VecEnvIndices", "VecEnvObs"),
        *("VecEnvStepReturn", "Wrapper"),
        *("Array", "Progress"),  # an array of any type; a callback of each module
        # internal classes
        "bideuchre_env._files.Output",
        "bideuchre_env.agents.advice.reasons.Situation",
        "bideuchre_env.evaluation.statistics.intervals.Moments",
        "bideuchre_env.learning.encoder.EncoderWorkspace",
        "bideuchre_env.learning.feature_rows.FeatureWorkspace",
        "bideuchre_env.rules.toml_file.RulesFile",
    )
]


def tidy_signature(
    app: Sphinx, what: str, name: str, obj: object, options: object, *parts: str | None
) -> tuple[str | None, ...]:
    """Return a signature and its result with short names of arrays and of default factories.

    The signature of a protocol becomes empty.
    """
    if parts == ("(*args, **kwargs)", None):  # of a protocol
        return "", None
    array = "~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~typing.Any]]"
    short = (part and part.replace(array, "~numpy.ndarray") for part in parts)
    return tuple(part and part.replace("<factory>", "...") for part in short)


def prepare_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Change the lines of a docstring before napoleon reads them.

    Examples become blocks of code. Words before a colon in an attribute's first line, such as
    "In notation: ...", are not read as its type.
    """
    for number in reversed(range(len(lines))):
        if lines[number] == "Example:":
            lines[number : number + 1] = ["Example::", ""]
    if what in ("attribute", "data", "property") and ":" in "".join(lines[:1]):
        lines[0] = f": {lines[0]}"


def resolve_short_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: Element
) -> Element | None:
    """Resolve a type that a module imports for type checkers only, by the last part of its name.

    Return None, no link, unless exactly one documented object has that name.
    """
    domain, target = env.domains.python_domain, node.get("reftarget")
    names = [name for name in domain.objects if name.rpartition(".")[2] == target]
    if node.get("refdomain") != "py" or len(names) != 1:
        return None
    document = node["refdoc"]
    return domain.resolve_xref(env, document, app.builder, "obj", names[0], node, content)


def setup(app: Sphinx) -> None:
    """Connect the functions of this file."""
    app.connect("autodoc-process-signature", tidy_signature)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=100)
    app.connect("missing-reference", resolve_short_name)
