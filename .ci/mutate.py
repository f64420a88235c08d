"""Mutation test: apply each mutant in mutants.toml to a copy of the sources; a test must fail.

    python .ci/mutate.py --results before.json    # run all mutants, or resume
    python .ci/mutate.py --only play web          # run areas, or single mutants
    python .ci/mutate.py --baseline               # run their `tests` unmutated
    python .ci/mutate.py --quick                  # only the tests that the README's command runs

A mutant that survives its `tests` is tested by `then`, if present; the baseline does not run these.
With `mode = "plain"` kernels run as Python; otherwise those that the mutant reaches are compiled
again. Needs Python 3.11.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_name("mutants.toml")
MODES = ("compile", "plain")
NO_TESTS = 5  # pytest's exit code
FIELDS = {"name", "file", "old", "new", "tests", "then", "mode", "note"}
PYTEST = ("-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no_shrinks")
NO_SHRINKS = "from hypothesis.internal.conjecture import engine\n\nengine.MAX_SHRINKS = 0\n"
"""A plugin: Hypothesis does not shrink failures, which takes minutes."""


def load() -> list[dict[str, Any]]:
    """Return the mutants of the table, named "area/name", each with a mode.

    Exit with a message if the table does not fit the tree: for example an `old` text that does not
    occur exactly once.
    """
    mutants, faults, names = [], [], set()
    for area, group in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        for mutant in group:
            name = mutant["name"] = f"{area}/{mutant['name']}"
            if name in names or mutant.keys() - FIELDS:
                faults.append(
                    f"{name}: a name twice, or a field not of {', '.join(sorted(FIELDS))}"
                )
            paths = (mutant["file"], *mutant["tests"], *mutant.get("then", ()))
            missing = [path for path in paths if not (ROOT / path).exists()]
            faults += [f"{name}: {path} does not exist" for path in missing]
            if mutant["file"] not in missing:
                text = (ROOT / mutant["file"]).read_text(encoding="utf-8")
                if text.count(mutant["old"]) != 1 or mutant["old"] == mutant["new"]:
                    faults.append(f"{name}: expected `old` once in {mutant['file']}, `new` differs")
                if mutant.setdefault("mode", "compile") not in MODES:
                    faults.append(f"{name}: mode={mutant['mode']!r}: expected one of {MODES}")
            mutants.append(mutant)
            names.add(name)
    if faults:
        sys.exit("\n".join((f"{TABLE.name} does not fit the tree:", *faults)))
    return mutants


class Worker:
    """A copy of the tracked files, in which one mutant at a time is tested."""

    def __init__(self, folder: Path, args: argparse.Namespace) -> None:
        self.tree, self.cache, self.timeout = folder / "tree", folder / "kernels", args.timeout
        self.markers = () if args.quick else ("-m", "not long")
        shutil.rmtree(self.tree, ignore_errors=True)
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=-1, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            if os.path.lexists(ROOT / name):
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name, follow_symlinks=False)
        (self.tree / "no_shrinks.py").write_text(NO_SHRINKS, encoding="utf-8")
        process = self.python("plain", "-c", "import bideuchre_env as b; print(b.__file__)")
        package = Path(process.communicate()[0].strip())
        if self.tree.resolve() not in package.resolve().parents:
            raise RuntimeError(f"the package is imported from {package}, not from {self.tree}")

    def python(self, mode: str, *arguments: str) -> subprocess.Popen[str]:
        """Start Python in the copy, in a new process group, with the copy first on the path."""
        paths = filter(None, (str(self.tree), os.environ.get("PYTHONPATH")))
        own = {"PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(self.cache)}
        switch = {"NUMBA_DISABLE_JIT": "1"} if mode == "plain" else {}
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.tree,
            env={**os.environ, **own, **switch},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def replace(self, mutant: dict[str, Any]) -> None:
        """Replace the mutant's `old` text by its `new` text in the copy of its file."""
        path = self.tree / mutant["file"]
        text = path.read_text(encoding="utf-8")
        assert text.count(mutant["old"]) == 1, mutant
        path.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")

    def pytest(self, paths: list[str], mode: str) -> tuple[str, str]:
        """Run tests; return "killed" (timeouts too), "survived" or "error", and the reason."""
        process = self.python(mode, "-m", "pytest", *PYTEST, *self.markers, *paths)
        try:
            output, _ = process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            return "killed", f"timeout of {self.timeout:g} s"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        failed = re.findall(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", output, re.M)
        if process.returncode == 1:
            return "killed", failed[0]
        if process.returncode in (0, NO_TESTS):  # none of them is quick
            return "survived", ""
        if process.returncode < 0:
            return "killed", f"signal {-process.returncode}"
        return "error", f"pytest exit code {process.returncode}: {output[-300:]}"

    def run(self, mutant: dict[str, Any]) -> tuple[str, str]:
        """Test a mutant by its `tests` and, if it survives, by `then`; return as `self.pytest`.

        The file is restored afterwards.
        """
        path = self.tree / mutant["file"]
        content, times = path.read_bytes(), path.stat()
        try:
            self.replace(mutant)
            result = self.pytest(mutant["tests"], mutant["mode"])
            if result[0] == "survived" and mutant.get("then"):
                result = self.pytest(mutant["then"], mutant["mode"])
            return result
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # compared by Python's cache


def unchanged(mutants: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return, for each pair of `tests` and mode, a mutant that changes nothing."""
    sets = dict.fromkeys((tuple(mutant["tests"]), mutant["mode"]) for mutant in mutants)
    nothing = {"file": mutants[0]["file"], "old": mutants[0]["old"], "new": mutants[0]["old"]}
    return [
        {**nothing, "name": f"unchanged {mode} {' '.join(tests)}", "tests": tests, "mode": mode}
        for tests, mode in sets
    ]


def digest(mutant: dict[str, Any]) -> str:
    """Return a hash of the mutant's fields, to detect saved results of an older version."""
    return hashlib.sha256(json.dumps(mutant, sort_keys=True).encode()).hexdigest()[:12]


def run_all(mutants: list[dict[str, Any]], args: argparse.Namespace, folder: Path) -> bool:
    """Run the mutants that have no result in `args.results`, in `args.jobs` threads.

    Results are printed, and written to that file. Return whether all mutants are killed; with
    `--baseline`, whether all survive.
    """
    results: dict[str, Any] = {}
    if args.results and args.results.exists():
        results = json.loads(args.results.read_text(encoding="utf-8"))
    todo: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for mutant in mutants:
        if results.get(mutant["name"], {}).get("digest") != digest(mutant):
            todo.put(mutant)
    lock = threading.Lock()

    def work(number: int) -> None:
        worker = Worker(folder / str(number), args)
        while True:
            try:
                mutant = todo.get_nowait()
            except queue.Empty:
                return
            start, name = time.perf_counter(), mutant["name"]
            result, by = worker.run(mutant)
            row = {"result": result, "by": by, "seconds": round(time.perf_counter() - start, 1)}
            with lock:
                results[name] = {**row, "digest": digest(mutant)}
                print(f"{name}: {result.upper()} {by} ({row['seconds']} s)", flush=True)
                if args.results:
                    args.results.write_text(json.dumps(results, indent=1), encoding="utf-8")

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = [results[mutant["name"]] for mutant in mutants if mutant["name"] in results]
    expected = "survived" if args.baseline else "killed"
    right = sum(row["result"] == expected for row in rows)
    print(f"{right} of {len(mutants)} {expected}, {sum(row['seconds'] for row in rows):.0f} s")
    return right == len(mutants)


def main() -> int:
    """Run the mutants that the options choose; return 1 if any result is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the mutants and exit")
    parser.add_argument("--baseline", action="store_true", help="run the tests without mutants")
    parser.add_argument("--quick", action="store_true", help="run no `search` and `slow` tests")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="mutants or areas to run")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at a time")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of a pytest run")
    parser.add_argument("--folder", help="folder of the copies, kept with its compiled kernels")
    parser.add_argument("--results", type=Path, metavar="FILE", help="JSON file, to resume from")
    args = parser.parse_args()
    mutants = load()
    if args.only:
        mutants = [m for m in mutants if {m["name"], m["name"].split("/")[0]} & set(args.only)]
    if args.list:
        print(*(f"{m['name']:50} {m['mode']:8} {m['file']}" for m in mutants), sep="\n")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        chosen = unchanged(mutants) if args.baseline else mutants
        return 0 if run_all(chosen, args, Path(args.folder or temporary)) else 1


if __name__ == "__main__":
    sys.exit(main())
