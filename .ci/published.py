"""List the published figures that are stale, and renew them: published.toml is their table.

    python .ci/published.py                  # list the stale figures, with reasons
    python .ci/published.py ladder partners  # run their commands again; `all`: of all stale figures
    python .ci/published.py --copied ladder  # after copying the numbers of new results into pages
    python .ci/published.py --check          # the same list; exit status 1 if a figure is stale

Not in the table: figures that tests compare with the code at every change, such as printed
examples, and training curves, which belong to the weights. Keys of a figure that people write:

- `generated`, `pages`: sections that show it, written by scripts, or by people who copy numbers.
- `files`: results and pictures, which its `commands` write. Commands run one after the
  other in the top folder. They write other files into $RUNS; a stopped command resumes from there.
- `sources`: pathspecs of git, or names in `groups`, of the code and data that it depends on.

Keys that this script writes: `version`, `date` and `machine` of the run, unless a file of results
has them; `minutes` of processor time; hashes of the sources and commands (`source`), of the files
(`digest`) and of the numbers in `pages` (`copied`). Comments, docstrings and pages (`*.md`) are no
sources. A finished figure is recorded at once. Needs Python 3.11.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("published.toml")

Figure = dict[str, Any]


def load() -> dict[str, Figure]:
    """Return the figures of the table by name; their `sources` are pathspecs, without groups."""
    content.cache_clear()  # hours may have passed
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    groups, figures = table.pop("groups"), table
    for figure in figures.values():
        each = (groups.get(source, [source]) for source in figure["sources"])
        figure["sources"] = [path for paths in each for path in paths]
    return figures


def record(name: str, **values: Any) -> None:
    """Write keys of a figure into the table, or remove those whose value is None."""
    head, mark, rest = TABLE.read_text(encoding="utf-8").partition(f"\n[{name}]\n")
    own, *others = re.split(r"\n(?=\[)", rest, maxsplit=1)
    for key, value in values.items():
        own = re.sub(rf"^{key} = .*\n", "", own, flags=re.M)
        own += "" if value is None else f"{key} = {json.dumps(value)}\n"
    TABLE.write_text(head + mark + "\n".join([own, *others]), encoding="utf-8")


# --- hashes ---------------------------------------------------------------------------------------


def digest(parts: Iterable[bytes]) -> str:
    """Return a hash of a sequence of byte strings."""
    whole = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hashlib.sha256(whole).hexdigest()[:16]


def source_of(figure: Figure) -> str:
    """Return the hash of a figure's sources and commands."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    done = subprocess.run((*command, *figure["sources"]), cwd=ROOT, stdout=-1, check=True)
    names = sorted({*filter(None, done.stdout.decode().split("\0"))})
    files = [name for name in names if not name.endswith(".md") and (ROOT / name).is_file()]
    parts = [part for name in files for part in (name.encode(), content(name))]
    return digest([*parts, *(command.encode() for command in figure["commands"])])


@cache
def content(name: str) -> bytes:
    """Return the content of a file, or the code of a Python file."""
    text = (ROOT / name).read_bytes()
    return repr(outline(ast.parse(text))).encode() if name.endswith(".py") else text


def outline(node: Any) -> Any:
    """Return a syntax tree without docstrings, in a form that all versions of Python share."""
    if isinstance(node, list):
        return [outline(each) for each in node if not is_docstring(each)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.JoinedStr):  # Python 3.12.1 adds empty texts
        node.values = [each for each in node.values if getattr(each, "value", None) != ""]
    values = ((name, outline(value)) for name, value in ast.iter_fields(node))
    return type(node).__name__, [pair for pair in values if pair[1] not in (None, [])]


def is_docstring(node: Any) -> bool:
    """Return whether a statement is only a text."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant and isinstance(node.value.value, str)


def files_of(figure: Figure) -> str:
    """Return the hash of a figure's files, which must exist."""
    return digest((ROOT / name).read_bytes() for name in figure["files"])


def numbers_of(figure: Figure) -> str:
    """Return the hash of the numbers in the sections `pages`; links and words have none."""
    sections = (re.sub(r"\]\([^)]*\)", "]", section(page)) for page in figure.get("pages", ()))
    return digest(" ".join(re.findall(r"\b\d+(?:[.,]\d+)*", text)).encode() for text in sections)


def section(page: str) -> str:
    """Return the section `PATH#anchor` of a page, up to its next heading; `KeyError` if missing."""
    path, _, anchor = page.partition("#")
    _, *parts = re.split(r"^#+ (.*)\n", (ROOT / path).read_text(encoding="utf-8"), flags=re.M)
    for heading, text in zip(parts[::2], parts[1::2], strict=True):
        if re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") == anchor:
            return text
    raise KeyError(page)


# --- figures --------------------------------------------------------------------------------------


def outdated(figure: Figure) -> list[str]:
    """Return the reasons to run the commands of a figure again; [] if its results are current."""
    missing = [name for name in figure["files"] if not (ROOT / name).exists()]
    reasons = [f"missing: {', '.join(missing)}"] if missing else []
    if not missing and figure.get("digest") != files_of(figure):
        reasons.append("its files have been changed by hand")
    if "source" not in figure:
        reasons.append("the sources of its results are unknown")
    elif figure["source"] != source_of(figure):
        reasons.append("its sources or commands have changed")
    return reasons


def uncopied(figure: Figure) -> list[str]:
    """Return the reason to compare the pages of a figure with its results, if there is one."""
    if not figure.get("pages") or figure.get("copied") == numbers_of(figure):
        return []
    return [f"compare with the results: {', '.join(figure['pages'])}"]


def stated(figure: Figure) -> dict[str, str]:
    """Return version, date and machine as far as a file of the results has them."""
    for name in figure["files"]:
        if name.endswith(".json") and (ROOT / name).exists():
            facts = json.loads((ROOT / name).read_text(encoding="utf-8")).get("machine")
            if isinstance(facts, dict):
                version = facts["packages"]["bideuchre_env"]
                return {"version": version, "date": facts["date"], "machine": facts["processor"]}
            if facts:  # in a line
                version = re.findall(r"bideuchre_env ([\w.]+)", facts)[0]
                return {"version": version, "machine": facts.partition(",")[0]}
    return {}


def described(figure: Figure) -> str:
    """Format the conditions of the results of a figure."""
    facts = dict.fromkeys(("version", "date", "machine", "minutes"), "unknown")
    facts |= {key: figure[key] for key in facts if key in figure} | stated(figure)
    return "version {version}, {date}, {machine}, {minutes} minutes".format(**facts)


def renew(name: str) -> None:
    """Run the commands of a figure that an earlier, stopped run has not finished; record them.

    Results that were computed from other sources are not used. `CalledProcessError` if a command
    fails, `OSError` if it has not written a file.
    """
    figure = load()[name]
    source = source_of(figure)
    folder = Path("runs", "figures", f"{name}-{source}")
    state, progress = {"finished": 0, "minutes": 0.0}, ROOT / f"{folder}.json"
    if progress.exists():
        state = json.loads(progress.read_text(encoding="utf-8"))
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    for command in figure["commands"][state["finished"] :]:
        print(f"{name}: {command}", flush=True)
        before = sum(os.times()[2:4])  # processor time of finished children
        try:
            run(command, folder)
            state["finished"] += 1
        finally:
            state["minutes"] += (sum(os.times()[2:4]) - before) / 60
            progress.write_text(json.dumps(state), encoding="utf-8")
    if not all((ROOT / file).exists() for file in figure["files"]):
        progress.unlink()  # the next run begins anew
    from bideuchre_env import __version__
    from bideuchre_env.bench import measure

    facts: dict[str, Any] = {"version": __version__, "date": str(date.today())}
    facts |= {"machine": measure.machine()["processor"], "minutes": round(state["minutes"], 1)}
    facts |= dict.fromkeys(stated(figure))  # None: not repeated
    facts |= {"source": source, "digest": files_of(figure)}
    if facts["digest"] != figure.get("digest"):
        facts["copied"] = None
    record(name, **facts)
    progress.unlink()


def run(command: str, folder: Path) -> None:
    """Run a shell command; if this process is stopped, stop it too, and wait for its end."""
    line, env = ("bash", "-ec", command), {**os.environ, "RUNS": folder.as_posix()}
    with subprocess.Popen(line, cwd=ROOT, env=env, start_new_session=True) as process:
        try:
            status = process.wait()
        except BaseException:
            with suppress(ProcessLookupError):  # it has just ended
                os.killpg(process.pid, signal.SIGINT)
            raise
    if status:
        raise subprocess.CalledProcessError(status, command)


def main(arguments: list[str] | None = None) -> int:
    """Renew the figures in `arguments`, and list the stale figures; return the exit status."""
    summary = str(__doc__).partition(":")[0] + "."
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("names", nargs="*", metavar="FIGURE", help="renew these; all: the stale")
    parser.add_argument("--check", action="store_true", help="fail if a figure is stale")
    copied = "the pages of these figures have been compared with the results"
    parser.add_argument("--copied", nargs="+", metavar="FIGURE", default=[], help=copied)
    args, figures = parser.parse_args(arguments), load()
    names, failed = args.names, False
    if names == ["all"]:
        names = [name for name, figure in figures.items() if outdated(figure)]
    if unknown := {*names, *args.copied} - figures.keys():
        parser.error(f"{', '.join(sorted(unknown))}: expected all, or some of {', '.join(figures)}")
    for name in names:
        try:
            renew(name)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    for name in args.copied:
        record(name, copied=numbers_of(figures[name]))
    figures = load()
    stale = {name: outdated(each) + uncopied(each) for name, each in figures.items()}
    stale = {name: reasons for name, reasons in stale.items() if reasons}
    for name, reasons in stale.items():
        print(f"{name}: {'; '.join(reasons)} ({described(figures[name])})")
    print(f"{len(stale)} of {len(figures)} figures are stale")
    return int(failed or (args.check and len(stale) > 0))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; the same command resumes")
