"""The folder of a tournament: `results.json`, `.csv` and `.md`, and its heat maps.

`results.json` has everything; the other files are derived from it. A tournament with the same
settings resumes from its matches.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from pathlib import Path
from typing import Any

from bideuchre_env._checks import brief, printable
from bideuchre_env._files import write_file
from bideuchre_env._inputs import check_size, read_file
from bideuchre_env._install import software
from bideuchre_env.agents.data import data_hash
from bideuchre_env.agents.inputs import PACKAGE, digest
from bideuchre_env.agents.prepared import PREPARED_FILE
from bideuchre_env.agents.registry import in_one_line
from bideuchre_env.errors import OptionError, OutputError
from bideuchre_env.evaluation import field_tables, pictures
from bideuchre_env.evaluation.tournament_tables import csv_row, markdown

SETTINGS = ("kind", "version", "boards", "games", "sprt", "seed", "field", "software")
"""Keys of `results.json` that must be equal to resume; `field.py` adds those of its kind."""
_DAMAGED = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
MOST_BYTES = 2**30
"""Maximum size of `results.json`; a board of a match takes about 4 bytes."""
OTHERWISE = "choose another folder, or --force to overwrite them"


def key_of(match: dict[str, Any]) -> str:
    """Return a text that identifies a match (`Result.to_dict`): variant, options and agents."""
    return json.dumps([match["variant"], match["options"], match["agents"]], sort_keys=True)


def origin_of(files: dict[str, str | None]) -> dict[str, Any]:
    """Return the inputs of results as JSON values: "files", and "software" with a hash of the data.

    `files` are those of `Tournament.files`.
    """
    return {"files": files, "software": software() | {"data": data_hash()}}


def first_changed(before: dict[str, str | None], now: dict[str, str | None]) -> str | None:
    """Describe the first file or package of `before` that has changed; None if there is none.

    `before` and `now` are those of `Tournament.files`. A file that is only in `before` is read
    again.
    """
    for name in sorted(before):
        if name not in now and name.startswith(PACKAGE):
            continue
        if before[name] != (now[name] if name in now else digest(name)):
            is_prepared = name.startswith(PREPARED_FILE)
            return f"{name}, which `bideuchre prepare` makes," if is_prepared else name
    return None


def finished_matches(
    folder: Path, settings: dict[str, Any], keys: set[str]
) -> list[dict[str, Any]]:
    """Return the finished matches in a folder, [] if it has no results.

    `settings` is the object of the tournament to resume (`Tournament.to_dict`), `keys` are the keys
    of its matches. Raises `OptionError` for a folder with results of another tournament, which
    would be overwritten.
    """
    path = folder / "results.json"
    if not path.exists():
        for name in (*pages(settings), "results.csv"):
            if (folder / name).exists():
                raise OptionError(f"{folder / name} exists without its results.json: {OTHERWISE}")
        return []
    data = load(path)
    for name in SETTINGS:
        if data.get(name) != settings.get(name):
            was, expected = (brief(each.get(name)) for each in (data, settings))
            raise OptionError(f"{path} has results with {name}={was}, not {expected}: {OTHERWISE}")
    if changed := first_changed(data.get("files", {}), settings["files"]):
        raise OptionError(f"{changed} has changed since {path} was written: {OTHERWISE}")
    for match in data["matches"]:
        if key_of(match) not in keys:
            a, b = match["agents"]
            pair = printable(f"{match['variant']}: {a} against {b}")
            raise OptionError(f"{path} has {pair}, which is not in this tournament: {OTHERWISE}")
    matches: list[dict[str, Any]] = data["matches"]
    return matches


def load(path: Path) -> dict[str, Any]:
    """Return the object of a `results.json`; `OptionError` for an invalid or incomplete file."""
    try:
        data: dict[str, Any] = json.loads(read_file(path, MOST_BYTES).decode("utf-8"))
        data["files"] = dict(data.get("files", {}))
        if not data["matches"]:
            raise ValueError("no matches")
        if not all(set(match["agents"]) <= set(data["agents"]) for match in data["matches"]):
            raise ValueError("a match of unknown agents")
        if len(set(map(key_of, data["matches"]))) < len(data["matches"]):
            raise ValueError("a match twice")
        for match in data["matches"]:
            csv_row(match)
            date.fromisoformat(match["date"])
            outcomes = match.get("outcomes", "")
            if len(outcomes) != match["boards"] or not set(outcomes) <= set("+-="):
                raise ValueError("outcomes are not those of its boards")
            if "kind" in data and len(match["board_points"].split()) != match["boards"]:
                raise ValueError("points are not those of its boards")
        pages(data | {"table": field_tables.table_of(data)} if "kind" in data else data)
    except _DAMAGED as error:
        raise OptionError(
            f"{path}: no results of a tournament to resume ({in_one_line(error)}): {OTHERWISE}"
        ) from None
    return data


def write(folder: Path, data: dict[str, Any]) -> list[str]:
    """Write the result files, each atomically, and return their names.

    `data` is the object of `results.json`; it must have a match.
    """
    table, rows = io.StringIO(newline=""), [csv_row(match) for match in data["matches"]]
    writer = csv.DictWriter(table, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    if "kind" not in data:
        (folder / "results.tex").unlink(missing_ok=True)  # of results that --force replaces
    files = pages(data) | {"results.csv": table.getvalue()}
    files["results.json"] = json.dumps(data, indent=1) + "\n"
    check_size(folder / "results.json", len(files["results.json"]), MOST_BYTES)
    for name, text in files.items():
        write_file(folder / name, text)
    return list(files)


def pages(data: dict[str, Any]) -> dict[str, str]:
    """Return the contents of the files of tables, by name."""
    if "kind" not in data:
        return {"results.md": markdown(data)}
    return {"results.md": field_tables.markdown(data), "results.tex": field_tables.latex(data)}


def remove_pictures(folder: Path) -> None:
    """Remove the heat maps from a folder, if there are any."""
    for picture in pictures.files(folder / "results"):
        picture.unlink(missing_ok=True)


def has_picture(data: dict[str, Any]) -> bool:
    """Return whether heat maps are drawn: against a field, of partners that have played it all."""
    return "kind" not in data or any("partners" in row for row in data["table"])


def write_pictures(folder: Path, data: dict[str, Any]) -> list[str]:
    """Write the heat maps for light and dark pages, if `has_picture`; return their names.

    Without matplotlib nothing is written. Raises `OutputError` for a picture that cannot be drawn
    or written.
    """
    if not has_picture(data):
        return []
    path = folder / "results"
    try:
        pictures.save(path, lambda theme: pictures.heat_maps(data, theme))
    except ImportError:
        return []
    except OutputError:
        raise
    except Exception as error:  # fonts, memory, settings of matplotlib
        raise OutputError(f"{path} could not be drawn: {in_one_line(error)}") from None
    return [picture.name for picture in pictures.files(path)]
