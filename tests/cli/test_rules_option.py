"""`--rules FILE`, `bideuchre variants FILE` and `variants --toml` at the command line."""

import json

import pytest

import bideuchre_env
from bideuchre_env import Rules
from bideuchre_env.cli.main import main
from bideuchre_env.cli.variants import sheet


@pytest.fixture
def farm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "farm.toml").write_text('base = "barrie"\ntarget = 9\n', encoding="utf-8")
    return bideuchre_env.make("farm.toml")


def test_a_variant_is_printed_as_a_file_and_shown_from_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["variants", "--toml", "barrie", "--option", "partnered=4-8"]) == 0
    text = capsys.readouterr().out
    (tmp_path / "farm.toml").write_text(text, encoding="utf-8")
    rules = bideuchre_env.barrie_v0.rules.replace(partnered=(4, 8))
    assert Rules.from_toml(text) == rules
    assert main(["variants", "farm.toml"]) == 0
    assert capsys.readouterr().out == f"farm\n\n{sheet(rules)}\n"
    assert main(["variants", "farm.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"farm": rules.to_dict()}


def test_a_rule_sheet_fits_a_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    for variant in bideuchre_env.variants.values():
        folded = sheet(variant.rules, on_screen=True)
        assert max(map(len, folded.splitlines())) <= 60
        assert folded.split() == sheet(variant.rules).split()


RUNS = {
    "selfplay": ["--boards", "4", "--json"],
    "match": ["random", "rule", "--boards", "4", "--json", "-"],
    "hand": ["JS JS JC AS KS AH AD KD", "--json"],
}


@pytest.mark.parametrize("command", RUNS)
def test_commands_play_by_a_file(command, farm, capsys, tmp_path):
    assert main([command, *RUNS[command], "--rules", "farm.toml", "--option", "max_hands=7"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["variant"] == "farm"
    if command != "hand":
        assert Rules(**told["options"]) == farm.rules.replace(max_hands=7)
    if command == "selfplay":
        assert told["records"] == "runs/selfplay-farm-rule-random-seed0.jsonl"
        assert main(["check", told["records"]]) == 0
        assert main(["show", told["records"], "--first", "1"]) == 0
        assert "Game 1: farm" in capsys.readouterr().out


def test_a_report_names_a_game_of_ones_own(farm, capsys):
    """Its rules, which are many, stand in the JSON object and in the records."""
    assert main(["match", "random", "rule", "--boards", "2", "--rules", "farm.toml"]) == 0
    assert capsys.readouterr().out.startswith("random against rule, farm, seed 0\n")


@pytest.mark.parametrize("command", ["selfplay", "match a b", "hand JH", "bench"])
def test_a_variant_or_a_file(command, farm, capsys):
    """One of the two; a file that is wrong is one line."""
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--rules", "farm.toml", "--variant", "barrie"])
    assert ended.value.code == 2
    assert "argument --variant: not allowed with argument --rules" in capsys.readouterr().err
    for file, word in (("no.toml", "No such file"), (".", "Is a directory")):
        assert main([*command.split(), "--rules", file]) == 2
        assert capsys.readouterr().err == f"bideuchre: error: {file}: cannot be read: {word}" + (
            " or directory\n" if file == "no.toml" else "\n"
        )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--toml"], "--toml is for one variant: name it"),
        (["--option", "target=5"], "--option is for one variant: name it"),
        (["barie"], "'barie' is no variant (did you mean 'barrie_v0'?): one of cincinnati_v0"),
        (["barrie", "--option", "self=1"], "unknown option 'self'; the options are: ranks"),
        (["barrie", "--option", "name=1"], "unknown option 'name'; the options are: ranks"),
        (["barrie", "--option", "trget=1"], "unknown option 'trget' (did you mean 'target'?)"),
        (["barrie", "--option", "target"], "--option 'target': NAME=VALUE, as target=40"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, words, capsys):
    assert main(["variants", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
