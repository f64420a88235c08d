"""Configuration of the documentation site; `stage.py` copies it beside the staged pages."""

import re
import sys
from importlib.metadata import metadata
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import bideuchre_env
from bideuchre_env.envs.manual import OPTION_ROWS
from bideuchre_env.envs.options import METHOD_OPTIONS

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
html_domain_indices = False  # one module
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

NAME = re.compile(r"([A-Za-z_][\w.]*)(\(.*\))?", re.S)


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
    app: Sphinx, what: str, name: str, obj: object, directive: object, lines: list[str]
) -> None:
    """Change the lines of a docstring before napoleon reads them.

    Examples become blocks of code. Words before a colon in an attribute's first line, such as
    "In notation: ...", are not read as its type. A method that makes an environment gets a list of
    the environment's keywords.
    """
    for number in reversed(range(len(lines))):
        if lines[number] == "Example:":
            lines[number : number + 1] = ["Example::", ""]
    if what in ("attribute", "data", "property") and ":" in "".join(lines[:1]):
        lines[0] = f": {lines[0]}"
    if method := METHOD_OPTIONS.get(name.rpartition("Variant.")[2]):
        rows = [row for row in OPTION_ROWS if row[0].strip("`") in method.names()]
        lines += ["Keyword Args:"]
        lines += [f"    {row[0].strip('`')}: {row[2]}. Default: {row[1]}." for row in rows]
        lines += ["    ...: the options of `Rules`.", ""]


def resolve_short_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Resolve a type that a module imports for type checkers only, by the last part of its name.

    Return None, no link, unless exactly one documented object has that name.
    """
    domain, target = env.domains.python_domain, node.get("reftarget")
    names = [name for name in domain.objects if name.rpartition(".")[2] == target]
    if node.get("refdomain") != "py" or len(names) != 1:
        return None
    document = node["refdoc"]
    return domain.resolve_xref(env, document, app.builder, "obj", names[0], node, content)


def documented_object(objects: dict[str, ObjectEntry], page: str, text: str) -> ObjectEntry | None:
    """Return the one documented object that a text in backticks on a page names, or None.

    If several objects match, the one on the API page of the same name is returned. Words without a
    dot, such as "match" or "points", are ambiguous: elsewhere they count only as names of classes,
    of public functions with an underscore or arguments, and of methods with arguments.
    """
    match = NAME.fullmatch(text)
    if match is None:
        return None
    name, call = re.sub(r"^\w+_v\d\.", "Variant.", match[1]), match[2]  # cincinnati_v0.vec(64)
    suffix, members = f".{name}", ("attribute", "property") + ("method",) * (not call)
    entries = {
        (entry.docname, entry.node_id): (full, entry)
        for full, entry in objects.items()
        if f".{full}".endswith(suffix) and ("." in name or entry.objtype not in members)
    }
    subject = Path(page).name
    near = [each for each in entries.values() if Path(each[1].docname).name == subject]
    matches = near or [*entries.values()]
    if len(matches) != 1:
        return None
    [(full, entry)] = matches
    public = full == f"bideuchre_env.{name}" and (call or "_" in name)
    clear = "." in name or name[0].isupper() or public or entry.objtype == "method"
    return entry if near or clear else None


def link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Make names of documented objects in backticks links, except in the changelog.

    The changelog has old names.
    """
    if page == "project/changelog":
        return
    objects = app.env.domains.python_domain.objects
    outside = nodes.reference | nodes.title | desc_signature
    others = {
        id(each)
        for part in doctree.findall(lambda node: isinstance(node, outside))
        for each in part.findall(nodes.literal)
    }
    for literal in list(doctree.findall(nodes.literal)):
        entry = documented_object(objects, page, literal.astext())
        if entry and id(literal) not in others:
            link = (entry.docname, entry.node_id, literal.deepcopy())
            literal.replace_self(make_refnode(app.builder, page, *link))


def break_words(app: Sphinx, doctree: nodes.document) -> None:
    """Let long words in tables break: names in headers after "_", "/", "=" and ":", and hashes."""
    hashes = r"(?<=[0-9a-f]{32})(?=[0-9a-f]{32})"
    for kind, place in ((nodes.thead, r"(?<=[_/=:])(?=\w)"), (nodes.tbody, hashes)):
        for text in [text for part in doctree.findall(kind) for text in part.findall(nodes.Text)]:
            first, *rest = re.split(place, text)
            broken = [nodes.Text(first)]
            for part in rest:
                broken += [nodes.raw("", "<wbr>", format="html"), nodes.Text(part)]
            text.parent.replace(text, broken)


def setup(app: Sphinx) -> None:
    """Connect the functions of this file."""
    app.connect("autodoc-process-signature", tidy_signature)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=100)
    app.connect("missing-reference", resolve_short_name)
    app.connect("doctree-read", break_words)
    app.connect("doctree-resolved", link_names)
