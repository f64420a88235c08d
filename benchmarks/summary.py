"""Tables of `README.md`, `notes.md` and `results/README.md`, from the reports of the scripts.

A table begins after a line `<!-- NAME -->` and ends before an empty line. `BLOCKS` has the script
and the function of every table. A cell is empty if its figure was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from reports import Report

from bideuchre_env.agents.registry import BUILT_IN
from bideuchre_env.bench import measure
from bideuchre_env.bench.measure import Figure, amount
from bideuchre_env.rules.variants import RULES

OURS = "bideuchre_env"
NOT_MEASURED = "Not measured.\n"
GAME = "cincinnati_v0"
ROWS = ("256", "1,024", "4,096", "16,384", "65,536")
DRAWN, ALONE, MANY = "actions drawn", "step alone", "4,096 rows"
RAW, LIMIT = "AEC raw_env()", "The machine's limit"
AEC, SOLO, VEC = "AEC", "One learner", "Vector env"
THREADS, ROLLOUTS = "Threads", "Rollouts"
PLAYERS = ("random", "rule")
SPEED = (  # purpose, call, and for random and rule players: group and name of the figure
    ("one game, self-play (PettingZoo)", "raw_env()", (AEC, "raw_env(), episodes of a game")),
    ("the same with PettingZoo's wrappers", "env()", (AEC, "env(), episodes of a game")),
    (
        "one game, one learner (Gymnasium)",
        "solo(opponents=...)",
        *((SOLO, f"one, {player} opponents") for player in PLAYERS),
    ),
    (
        "many games, one learner (Gymnasium)",
        "solo_vec(4096, opponents=...)",
        *((SOLO, f"4,096 rows, {player} opponents") for player in PLAYERS),
    ),
    ("many games, self-play", "vec(4096)", (VEC, f"4,096 rows, {ALONE}")),
    (
        "the same, several threads, wall time",
        "vec(4096, threads=N)",
        (THREADS, f"4,096 rows, {ALONE}, N threads"),
    ),
    (
        "whole hands in one kernel",
        "rollout(game, policy)",
        *((ROLLOUTS, f"{player}, {GAME}") for player in ("random", "rule player")),
    ),
    (
        "the same with observations",
        "rollout(game, observe=True)",
        (ROLLOUTS, f"random, observing, {GAME}"),
    ),
    ("matches of two agents", "match(game, a, b)", None, ("Agents", "self-play, rule and rule")),
)
SPIELS = ("euchre", "bridge", "spades", "hearts")
SPIEL_TASKS = {  # name of OpenSpiel's task: ours
    "C++ rollouts after the deal": "rollouts",
    "C++, nothing": "rollouts",
    "C++, mask": "rollouts, observing",
    "C++, mask and tensor": "rollouts, observing",
    "Python": "AEC raw_env()",
}
LIBRARIES = (  # library, group, pattern of the names of its tasks, ours
    ("OpenSpiel's euchre in Python", "OpenSpiel", r"euchre, (?:Python, )?(mask.*|rl_env.*)", RAW),
    ("OpenSpiel's euchre through Shimmy", "PettingZoo", r"OpenSpiel's (euchre) .*", RAW),
    ("RLCard", "RLCard", r"(.*)", RAW),
    ("PettingZoo classic, `raw_env()`", "PettingZoo", r"(.*) raw_env\(\)", RAW),
    ("PettingZoo classic, `env()`", "PettingZoo", r"(.*) env\(\)", "AEC env()"),
    ("pgx on JAX, sample and step", "pgx", rf"(.*), {MANY}", f"vec, {MANY}, {DRAWN}"),
    ("pgx on JAX, step", "pgx", rf"(.*), {MANY}, {ALONE}", f"vec, {MANY}, {ALONE}"),
    ("minimal game, sample and step", LIMIT, rf"(.* rows?), {DRAWN}", ""),
    ("minimal game, step", LIMIT, rf"(.* rows?), {ALONE}", ""),
    ("minimal game, in a kernel", LIMIT, r"inside a (kernel), .*", "rollouts"),
)
QUESTIONS = ("trump", "no trump", "trump alone", "no trump alone", "all alone?")
CACHES = tuple(
    f"{cache} cache, {clock} time" for cache in ("warm", "cold") for clock in ("process", "wall")
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Format a Markdown table; its first `texts` columns are aligned to the left."""
    rule = "|" + "---|" * texts + "---:|" * (len(header) - texts)
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([f"| {' | '.join(header)} |", rule, *lines]) + "\n"


def find(report: Report, group: str, name: str) -> Figure | None:
    """Return the figure of this name in a group whose title begins with `group`, or None."""
    matches = (row for row in report.figures if row.name == name)
    return next((row for row in matches if row.group.startswith(group)), None)


def rate(report: Report, group: str, name: str) -> str:
    """Return a figure's median without its unit; empty if it was not measured."""
    row = find(report, group, name)
    return "" if row is None else amount(row.median)


def ratio(report: Report, group: str, name: str) -> str:
    """Return the ratio of our speed to a figure's, with the figure's median in parentheses.

    The text is empty if the figure was not measured or has no ratio.
    """
    row = find(report, group, name)
    return f"{amount(row.ratio)} ({amount(row.median)})" if row and row.ratio else ""


def conditions(report: Report) -> str:
    """Return when, where and how a report was measured, and the skipped tasks."""
    text = f"Measured on {report.machine['date']}: {measure.machine_line(report.machine)}"
    if report.packages:
        text += "; libraries: " + ", ".join(f"{k} {v}" for k, v in report.packages.items())
    lines = [f"{text}. Conditions: {report.how.rstrip('.')}."]
    lines += [f"- skipped: {line}" for line in report.skipped]
    return "\n".join(lines) + "\n"


def speed(report: Report) -> str:
    """Return the table of decisions per second of every environment."""

    threads = most_threads(report)

    def cells(purpose: str, call: str, *figures: tuple[str, str] | None) -> tuple[str, ...]:
        random, rule = (
            rate(report, key[0], key[1].replace("N threads", threads)) if key else ""
            for key in (*figures, None)[:2]
        )
        return purpose, f"`{call.replace('N', threads.partition(' ')[0])}`", random, rule

    header = ("environment", "call", "`random`", "`rule`")
    return table(header, (cells(*row) for row in SPEED), 2)


def most_threads(report: Report) -> str:
    """Return the largest measured number of threads, such as "2 threads"."""
    counts = (re.search(r"(\d+) threads?$", row.name) for row in report.figures)
    most = max((int(match[1]) for match in counts if match), default=1)
    return f"{most} thread" + "s" * (most > 1)


def rows_and_threads(report: Report) -> str:
    """Return the table of decisions per second of `vec` by rows and threads, and of `rollout`."""

    def cells(label: str, *names: tuple[str, str]) -> tuple[str, ...]:
        return label, *(rate(report, group, name) for group, name in names)

    threads = ("1 thread", most_threads(report))
    rows = [
        cells(
            f"`vec({n.replace(',', '_')})`",
            (VEC, f"{n} rows, {DRAWN}"),
            (VEC, f"{n} rows, {ALONE}"),
            *((THREADS, f"{n} rows, {ALONE}, {count}") for count in threads),
        )
        for n in ROWS
    ]
    for call, name in (
        ("`rollout`", "rollouts"),
        ("`rollout(observe=True)`", "rollouts, observing"),
    ):
        measured = cells(call, *((THREADS, f"{name}, {count}") for count in threads))
        rows.append((call, "", "", *measured[1:]))
    header = ("call", "`sample` and `step`", "`step`", "1 thread, not pinned", threads[1])
    return table(header, rows)


def variants(report: Report) -> str:
    """Return the table of decisions per second of every variant."""

    def cells(name: str) -> Iterable[str]:
        usual = name == GAME
        yield f"`{name}`"
        yield rate(report, AEC, f"raw_env(), {'episodes of a game' if usual else name}")
        for way in (DRAWN, ALONE):
            yield rate(report, VEC, f"4,096 rows, {way}" + ("" if usual else f", {name}"))
        for way in ("random", "random, observing", "rule player"):
            yield rate(report, "Rollouts", f"{way}, {name}")

    vec = ("`vec`: `sample` and `step`", "`vec`: `step`")
    rolls = ("`rollout`", "`rollout`, observing", "`rollout` by `rule`")
    header = ("variant", "`raw_env()`", *vec, *rolls)
    measured = [name for name in RULES if find(report, "Rollouts", f"random, {name}")]
    return table(header, (tuple(cells(name)) for name in measured))


def agents(report: Report) -> str:
    """Return the table of decisions per second of every agent."""
    rows_of = (row for row in report.figures if row.group.startswith("Agents"))
    measured = {row.name.partition(",")[0] for row in rows_of}
    names = [name for name in BUILT_IN if name in measured]
    ways = ("act_rows on 4,096 rows", "whole hands")
    rows = [(way, *(rate(report, "Agents", f"{name}, {way}") for name in names)) for way in ways]
    return table(("decisions/s", *(f"`{name}`" for name in names)), rows)


def openspiel(report: Report) -> str:
    """Return the table of the speed relative to OpenSpiel, by task and game."""
    rows = (
        (
            task,
            call(ours),
            rate(report, OURS, ours),
            *(ratio(report, "OpenSpiel", f"{game}, {task}") for game in SPIELS),
        )
        for task, ours in SPIEL_TASKS.items()
    )
    return table(("OpenSpiel", "bideuchre_env", "decisions/s", *SPIELS), rows, 2)


def libraries(report: Report) -> str:
    """Return the table of the speed relative to the other libraries and the minimal game."""

    def cells(library: str, group: str, pattern: str, ours: str) -> tuple[str, ...]:
        tasks = (
            (re.fullmatch(pattern, row.name), ratio(report, group, row.name))
            for row in report.figures
            if row.group.startswith(group)
        )
        ratios = "; ".join(f"{match[1]} {text}" for match, text in tasks if match and text)
        against = f"{call(ours)} {rate(report, OURS, ours)}" if ours else "`vec`, as many rows"
        return library, against, ratios

    header = ("library", "bideuchre_env", "ratios (decisions/s of the library)")
    return table(header, (cells(*row) for row in LIBRARIES), 3)


def call(name: str) -> str:
    """Return the Markdown of our call that the task `name` measures."""
    if name.startswith("rollouts"):
        return "`rollout(observe=True)`" if "observing" in name else "`rollout`"
    return "`vec(4096)`" if name.startswith("vec") else f"`{name.removeprefix('AEC ')}`"


def solver(report: Report) -> str:
    """Return the table of solved deals per second by question and deck.

    A cell also has the 99th percentile of the cards tried, divided by their mean.
    """
    decks = tuple(dict.fromkeys(row.group for row in report.figures))

    def cell(deck: str, question: str) -> str:
        tail = rate(report, deck, f"{question}: cards tried by the 99th percentile, in means")
        return rate(report, deck, question) + (f"; {tail}" if tail else "")

    rows = ((question, *(cell(deck, question) for deck in decks)) for question in QUESTIONS)
    return table(("deals/s; 99th percentile / mean", *decks), rows)


def compilation(report: Report) -> str:
    """Return the table of seconds to the first step, and to compile every group of kernels."""
    splits = (row.name.partition(f", {CACHES[1]}") for row in report.figures)
    programs = ["", *(program for program, separator, _ in splits if separator)]
    rows = (
        (
            program or "one step of `raw_env()`",
            *(rate(report, "First", f"{program}, {way}".removeprefix(", ")) for way in CACHES),
        )
        for program in programs
    )
    return table(("seconds", *CACHES), rows)


def memory(report: Report) -> str:
    """Return one line with the import time, the size of a state and the peak memory."""
    figures = (
        f"{row.name}: {amount(row.median)} {row.unit}"
        for row in report.figures
        if row.group != "First step" and "of which" not in row.name and "a process" not in row.name
    )
    return f"{'; '.join(figures)}.\n"


def goals(report: Report) -> str:
    """Return the table of the figures that miss a goal; "None." if there are none."""
    rows = [
        (f"{row.group}: {row.name}", measure.cells(row)[1], row.verdict.partition(":")[0])
        for row in report.figures
        if row.meets is False
    ]
    return table(("not met", "median", "goal"), rows) if rows else "None.\n"


def everything(report: Report) -> str:
    """Return the table of all figures of a report."""
    rows = (measure.cells(row)[:3] for row in report.figures)
    return table(("task", "median", "quartiles"), rows)


BLOCKS: dict[str, tuple[str, Callable[[Report], str]]] = {
    "speed": ("throughput", speed),
    "throughput": ("throughput", conditions),
    "openspiel": ("peers", openspiel),
    "libraries": ("peers", libraries),
    "peers": ("peers", conditions),
    "rows": ("throughput", rows_and_threads),
    "variants": ("throughput", variants),
    "agents": ("throughput", agents),
    "deals": ("solver", solver),
    "solver": ("solver", conditions),
    "compilation": ("startup", compilation),
    "memory": ("startup", memory),
    "startup": ("startup", conditions),
    "throughput goals": ("throughput", goals),
    "startup goals": ("startup", goals),
    "solver goals": ("solver", goals),
    "gpu": ("gpu", everything),
}


def fill(page: str, reports: Sequence[Report], pictures: Mapping[str, str]) -> str:
    """Return the page with all tables and pictures; `pictures` has Markdown by script.

    A table without a report says that it is not measured.
    """
    by_script = {report.script: report for report in reports}
    texts = {f"{script} picture": picture for script, picture in pictures.items()}
    for name, (script, write) in BLOCKS.items():
        texts[name] = write(by_script[script]) if script in by_script else NOT_MEASURED
    for name, text in texts.items():
        page = replace_table(page, name, text)
    return page


def replace_table(page: str, name: str, text: str) -> str:
    """Return the page with this text in place of the table after the line `<!-- NAME -->`."""
    return re.sub(rf"(<!-- {name} -->\n)(?:.+\n)*", lambda match: match[1] + text, page)
