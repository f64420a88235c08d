"""Rules files: they round-trip, and errors name the faulty option."""

from pathlib import Path

import pytest
from support.strategies import in_two_sizes, rules

from bideuchre_env import Bid, Rules, make
from bideuchre_env.errors import OptionError, RulesError
from bideuchre_env.rules.options import CHOICES, OPTIONS, from_text
from bideuchre_env.rules.toml_file import tomllib
from bideuchre_env.rules.variants import RULES


@pytest.fixture
def farm(tmp_path, monkeypatch):
    """A function that writes `farm.toml` into the current folder and returns its path."""
    monkeypatch.chdir(tmp_path)

    def write(text):
        Path("farm.toml").write_text(text, encoding="utf-8")
        return "farm.toml"

    return write


@pytest.mark.parametrize("name", RULES)
def test_every_variant_round_trips(name):
    text = RULES[name].to_toml()
    assert Rules.from_toml(text) == RULES[name]
    changed = RULES[name].replace(win_rule="rounds", rounds=3)
    assert Rules.from_toml(changed.to_toml()) == changed
    assert Rules.from_toml(f'base = "{name}"\nmax_hands = 50') == RULES[name].replace(max_hands=50)


@in_two_sizes(60, game=rules())
def test_any_rules_round_trip(game):
    text = game.to_toml()
    assert Rules.from_toml(text) == game
    missing = [f'{name} = "none"\n' for name in ("target", "rounds") if getattr(game, name) is None]
    for base in RULES:
        assert Rules.from_toml(f'base = "{base}"\n{"".join(missing)}{text}') == game


def test_every_option_has_a_comment():
    text = RULES["barrie_v0"].to_toml()
    parts = text.split("\n\n")[1:]
    assert len(parts) == len(OPTIONS)
    for name, part in zip(OPTIONS, parts, strict=True):
        shown = part.replace("# rounds =", "rounds =").replace("# floor =", "floor =")
        *_, line = shown.rstrip(" ]\n").split("\n# ")
        assert f"\n{name} = " in f"\n{line}"
        assert "# Takes " in part
        assert all(f'"{word}"' in part for word in CHOICES.get(name, ()))
    assert max(map(len, text.splitlines())) <= 100
    assert list(tomllib.loads(text)) == [
        name for name in OPTIONS if name not in ("rounds", "floor")
    ]


def test_a_file_may_leave_out_unchanged_rules(farm):
    path = farm(
        '# ours\nbase = "barrie"\ntarget = 40\npartnered = "4-8"\n\n'
        '[[lone]]\nname = "moon"\nvalue = 30\n'
    )
    game = make(path)
    assert game.rules == RULES["barrie_v0"].replace(
        target=40, partnered=(4, 8), lone=[Bid("moon", 30)]
    )
    assert game.rules == Rules.from_toml(path) == Rules.from_toml(Path(path))
    assert game.name == "farm"
    assert make(Path(path)).name == "farm"
    assert make(path, name="ours", target=30).rules.target == 30
    assert make(path, name="ours").name == "ours"
    assert make(Rules.from_toml(path), name="farm").name == "farm"
    assert make(farm('name = "Grandma\'s"\nbase = "club_v0"')).name == "Grandma's"
    assert make(farm('\ufeffbase = "club_v0"\r\nlone = "none"\r\nranks = 9\r\n')).rules.ranks == "9"


FAULTS = [
    ("\ntarget = \n\n", r"is not valid TOML: Invalid value \(at line 2"),
    ("target = 5\ntarget = 6", r"is not valid TOML: Cannot overwrite a value"),
    ("[" * 10_000, r"is not valid TOML"),
    ("target = " + "9" * 5_000, r"is not valid TOML"),
    ("targett = 5", r"unknown option 'targett' \(did you mean 'target'\?\); the options are: r"),
    ('base = "barie"', r"base='barie' is no variant \(did you mean 'barrie_v0'\?\): expected one"),
    ("base = 5", r"base=5 is no variant: expected one of"),
    ("name = 5", r"name=5: expected 1 to 80 printable characters"),
    ('base = "club"\nwin_rule = "no"', r"win_rule='no': expected one of 'any', 'made_bid', "),
    ('base = "club"\ntarget = 1979-05-27', r"target=.*: expected a whole number from 1"),
    ('base = "club"\npartnered = "8-4"', r"partnered=\(8, 4\): expected from 1 up to 8"),
    ('base = "club"\n[lone]\nx = 1', r"lone=.*: expected a list of lone bids"),
    ('base = "club"\n[[lone]]\nname = "Moon"\nvalue = 5', r"lone bid name 'Moon'"),
    ("copies = 2", r"target=None: expected a number"),
]


@pytest.mark.parametrize(("text", "match"), FAULTS, ids=range(len(FAULTS)))
def test_faults_name_the_file_and_the_option(farm, text, match):
    path = farm(text)
    for read in (make, Rules.from_toml, lambda path: Rules.from_toml(Path(path))):
        with pytest.raises(RulesError, match=f"^farm.toml: {match}") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("odd.toml").write_bytes(b"\xff\xfe")
    Path("large.toml").write_bytes(b"#" * 2_000_000)
    Path("folder.toml").mkdir()
    for path, match in (
        ("nothing.toml", "nothing.toml: cannot be read: No such file"),
        ("folder.toml", "folder.toml: cannot be read: no regular file"),
        ("odd.toml", "odd.toml: cannot be read: 'utf-8' codec"),
        ("large.toml", "large.toml: cannot be read: more than 16384 bytes"),
        ("a\0.toml", "a.*.toml: cannot be read: embedded null"),
        ("größer.toml", "größer.toml: cannot be read: No such file"),
        ("x" * 10**5, f"{'x' * 200}: cannot be read: File name too long"),
        ("\x1b[31m.toml", r"\\x1b\[31m.toml: cannot be read"),
        (5, "5: expected the path of a file of rules, or its text"),
        (None, "None: expected the path of a file of rules, or its text"),
    ):
        with pytest.raises(RulesError, match=match):
            Rules.from_toml(path)
    with pytest.raises(RulesError, match=r"^target=0: expected a whole number"):
        Rules.from_toml('base = "club"\ntarget = 0')


def test_a_file_of_rules_may_end_in_toml_of_any_case(tmp_path):
    path = tmp_path / "Farm.TOML"
    path.write_text('base = "barrie"\ntarget = 40\n', encoding="utf-8")
    assert make(str(path)).rules == Rules.from_toml(str(path)) == make("barrie", target=40).rules


def test_other_rules_are_refused_under_the_name_of_a_variant(farm, tmp_path):
    file = tmp_path / "barrie_v0.toml"
    file.write_text(RULES["barrie_v0"].to_toml(), encoding="utf-8")
    assert make(file).name == "barrie_v0"
    assert make(file, target=9).rules.target == 9
    file.write_text('base = "club"\n\n[[lone]]\nname = "moon"\nvalue = 30\n', encoding="utf-8")
    with pytest.raises(RulesError, match=r"barrie_v0.toml: 'barrie_v0' is .* a name of its own"):
        make(file)
    assert make(file, name="ours").name == "ours"
    path = farm('base = "club"\nname = "barrie_v0"')
    with pytest.raises(RulesError, match=r"farm.toml: 'barrie_v0' is .* a name of its own"):
        make(path)


def test_a_variant_by_its_short_name():
    for name in ("barrie", "Barrie", "barrie_v0", " six card ", "double-deck", "SIX_CARD_V0"):
        assert make(name).name in (*RULES,)
    assert make("barrie").rules == RULES["barrie_v0"]
    assert make("double-deck", target=9).name == "double_deck_v0"
    for name, close in (("barie", "barrie_v0"), ("cincinati_v0", "cincinnati_v0")):
        with pytest.raises(OptionError, match=rf"'{name}' is no variant \(did you mean '{close}'"):
            make(name)
    for name in ("", "v0", "_v0", "barrie_v1", 5, None):
        with pytest.raises(OptionError, match=r"is no variant.*: expected one of cincinnati_v0"):
            make(name)


RANGES = [("4-8", (4, 8)), ("4 to 8", (4, 8)), ("(3, 5)", (3, 5)), ("[3, 5]", [3, 5])]
MOON_TEXT, MOON_BID = '[{"name": "moon", "value": 24}]', {"name": "moon", "value": 24}
AS_WRITTEN = {
    "ranks": [("9", "9"), ("10", "10"), ("'J'", "J")],
    "copies": [("2", 2)],
    "partnered": [*RANGES, ("none", None), ("None", None), ("null", None)],
    "lone": [("none", ()), ("[]", []), (MOON_TEXT, [MOON_BID])],
    "target": [("none", None), ("[" * 10_000, "[" * 10_000)],
    "rounds": [("none", None)],
    "win_rule": [("any", "any"), ('"any"', "any")],
    "all_pass": [("none", "none")],
}


@pytest.mark.parametrize("name", AS_WRITTEN)
def test_options_written_as_text(name):
    for text, value in AS_WRITTEN[name]:
        assert from_text(name, text) == value
        assert type(from_text(name, text)) is type(value)
