"""Every rule sentence of the sources is quoted by a test.

`sentences/S0.txt` to `S4.txt` hold the five sources sentence by sentence, `R.txt` the page that
settles their open questions. A line is a rule with its id, or begins with "-" and holds the length
and hash of other text (a heading, talk). A test quotes the rules that it tests in its docstring,
each after its ids:

    S2.07, S4.33: "In double deck versions the first played of two equal cards beats the second."

`rule_table.md` lists every rule with its tests; `python tests/law/test_every_sentence.py --write`,
or running these tests with WRITE_RULE_TABLE=1, renews it.
"""

import ast
import hashlib
import os
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TABLE = HERE / "rule_table.md"
SOURCES = {
    "S0": ("Cincinnati Euchre", "seeds/000_*.txt"),
    "S1": ("Simplified bid euchre", "seeds/001_*.txt"),
    "S2": ("The general rules, out of order in the source", "seeds/002_*.txt"),
    "S3": ("A club's sheet", "seeds/003_*.txt"),
    "S4": ("Barrie, Ontario, and the general rules", "seeds/004_*.txt"),
    "R": ("How open questions are settled, and the worked cases", "rules.md"),
}
ID = re.compile(r"\b(?:S[0-4]|R)\.\d\d\b")
QUOTE = re.compile(r'((?:S[0-4]|R)\.\d\d(?:, (?:S[0-4]|R)\.\d\d)*): "')


def lines_of(source):
    """The inventory of a source: (id or None, text), in the order of the source."""
    for line in (HERE / "sentences" / f"{source}.txt").read_text(encoding="utf-8").splitlines():
        mark, text = line.split("  ", 1)
        yield (None if mark == "-" else mark), text


def rules():
    """Every rule sentence, by id."""
    return {mark: text for source in SOURCES for mark, text in lines_of(source) if mark}


def law_tests():
    """(file, test, docstring in one line) of every test of the rules."""
    for path in sorted(HERE.glob("test_*.py")):
        if path.name == Path(__file__).name:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield path.name, node.name, " ".join((ast.get_docstring(node) or "").split())


def quotes(docstring):
    """(id, whether its sentence is quoted word for word) for every id of a docstring."""
    sentences = rules()
    verbatim = set()
    for match in QUOTE.finditer(docstring):
        for mark in ID.findall(match.group(1)):
            if docstring.startswith(f'{sentences.get(mark)}"', match.end()):
                verbatim.add(mark)
    return [(mark, mark in verbatim) for mark in dict.fromkeys(ID.findall(docstring))]


def tests_by_rule():
    """The tests that quote each rule, by id."""
    by_id = {}
    for file, name, docstring in law_tests():
        for mark, verbatim in quotes(docstring):
            if verbatim:
                by_id.setdefault(mark, []).append((file, name))
    return by_id


def rule_table():
    """The table of all rules and their tests, in Markdown."""
    by_id = tests_by_rule()
    out = ["# Every rule sentence, and the tests that show it", ""]
    out += ["Written by `test_every_sentence.py` from the docstrings of the tests.", ""]
    for source, (title, _) in SOURCES.items():
        out += [f"## {source}: {title}", "", "| id | sentence | tests |", "|---|---|---|"]
        for mark, text in lines_of(source):
            if mark:
                where = "<br>".join(f"{file}::{name}" for file, name in by_id.get(mark, []))
                out.append(f"| {mark} | {text.replace('|', chr(92) + '|')} | {where} |")
        out.append("")
    return "\n".join(out)


def bare(text, strip):
    """A text without the characters that match `strip`; letters lost by its scan are restored."""
    for lost, letter in {"\u012a": "A", "\u012b": "B", "\u012e": "E"}.items():
        text = text.replace(lost, letter)
    text = re.sub(r"(?m)^\s*- ", "", text)
    return re.sub(strip, "", text).lower()


def shared(pattern):
    """A source document in the folder that RULE_DOCUMENTS names, or None."""
    folder = os.environ.get("RULE_DOCUMENTS")
    return next(iter(Path(folder).glob(pattern)), None) if folder else None


@pytest.mark.parametrize("source", SOURCES)
def test_ids_of_sentences_count_up_from_1(source):
    marks = [mark for mark, _ in lines_of(source) if mark]
    assert marks == [f"{source}.{n:02d}" for n in range(1, len(marks) + 1)]
    assert marks


@pytest.mark.parametrize("source", SOURCES)
def test_sentences_cover_the_whole_source(source):
    document = shared(SOURCES[source][1])
    if document is None:
        pytest.skip("RULE_DOCUMENTS names no folder with the source documents")
    text = document.read_text(encoding="utf-8")
    strip = r"[\s*#]"
    if source == "R":
        text, strip = text[text.index("## Variants") :], r"[^A-Za-z0-9]"
    rest = bare(text, strip)
    for mark, line in lines_of(source):
        if mark:
            size = len(bare(line, strip))
            assert rest[:size] == bare(line, strip)
        else:
            length, digest = line.split()
            size = int(length)
            assert hashlib.sha256(rest[:size].encode()).hexdigest()[:16] == digest
        rest = rest[size:]
    assert not rest


@pytest.mark.parametrize("source", SOURCES)
def test_every_rule_is_quoted_by_a_test(source):
    by_id = tests_by_rule()
    missing = [f"{mark}  {text}" for mark, text in lines_of(source) if mark and mark not in by_id]
    assert not missing


def test_quotations_are_word_for_word():
    wrong = [
        f"{file}::{name} misquotes {mark}"
        for file, name, docstring in law_tests()
        for mark, verbatim in quotes(docstring)
        if not verbatim
    ]
    assert not wrong


def test_every_test_of_the_rules_quotes_one():
    assert not [f"{file}::{name}" for file, name, docstring in law_tests() if not quotes(docstring)]


def test_rule_table_is_up_to_date():
    if os.environ.get("WRITE_RULE_TABLE"):
        TABLE.write_text(rule_table(), encoding="utf-8")
    assert TABLE.read_text(encoding="utf-8") == rule_table()


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"usage: python {sys.argv[0]} --write")
    TABLE.write_text(rule_table(), encoding="utf-8")
