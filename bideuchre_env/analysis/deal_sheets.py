"""A page to print boards: the hands of each seat to cut out, then a sheet with all hands and par.

Every page fits both A4 and US Letter paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from bideuchre_env.records.page.page import document
from bideuchre_env.records.page.sheet import table
from bideuchre_env.records.ptn import SEATS
from bideuchre_env.records.record import GameRecord
from bideuchre_env.records.words import signed
from bideuchre_env.runtime.jit import Array
from bideuchre_env.solver import Makeable, Par

SIDE = f"{SEATS[2]}-{SEATS[0]}"
KITTY, VOID = "Kitty", "\N{EN DASH}"
TABLES = 4
CARDS_OF_PAGE, BOARDS_OF_PAGE = 18, 6
_LEGEND = (
    "For the director, not for the players. The figures are the tricks of the declarer's side in "
    "each strain, with partner and alone, if all four see all hands and play their best. Par is "
    f"the result if they also call their best, in points of {SIDE} minus the others'."
)
_NO_PAR = (
    "For the director, not for the players. There are no tricks and no par in a game with a kitty: "
    "the solver does not choose the cards that are laid away."
)
_STYLE = """
body { margin: 0 auto; padding: 4mm; width: 190mm; background: var(--paper); color: var(--ink);
  font: 9pt/1.3 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
section + section { break-before: page; margin-top: 8mm; }
h1 { font-size: 12pt; margin: 0 0 1mm; }
h2 { font-size: 10pt; margin: 0; }
p { margin: 0 0 1mm; }
.cards { display: grid; grid-template-columns: repeat(3, 63mm); grid-auto-rows: 40mm; }
.cards article { border: 0.2mm dashed var(--line); margin: 0 -0.2mm -0.2mm 0; padding: 2mm 3mm; }
.cards div { font-size: 12pt; margin-top: 1mm; }
.boards { display: grid; grid-template-columns: repeat(2, 94mm); grid-auto-rows: minmax(76mm, auto);
  gap: 1.5mm 2mm; }
.boards article { border: 0.2mm solid var(--line); padding: 1.5mm 2mm; break-inside: avoid; }
.hands { display: grid; grid-template-columns: repeat(3, 29.5mm); gap: 0 0.5mm; }
.hands h3 { font-size: 7pt; font-weight: 400; margin: 0; color: var(--dim); }
.hand p, .cards div p { margin: 0; padding-left: 1.3em; text-indent: -1.3em; }
.hand b, .cards div b { display: inline-block; width: 1.3em; text-indent: 0; font-weight: 400; }
.red { color: var(--red); }
table { border-collapse: collapse; }
.hands table { font-size: 7pt; line-height: 1.25; }
.hands th, .hands td { padding: 0 0 0 1.3mm; text-align: right; font-weight: 400; }
.results table { width: 100%; table-layout: fixed; }
.results th, .results td { border: 0.2mm solid var(--line); height: 8mm; padding: 0 1mm;
  font-weight: 400; text-align: left; }
.results th:first-child { width: 8mm; }
.results tr { break-inside: avoid; }
@page { margin: 10mm; }
@media print { body { padding: 0; } section + section { margin-top: 0; } }
"""


def sheets_page(
    boards: Sequence[GameRecord], results: Sequence[Makeable | None], title: str, note: str = ""
) -> str:
    """Return boards as one HTML file without a script, to print.

    It has cards with the hands of one seat after another, and of the kitty, then all hands with
    their par, and a table to write the results of four tables in.

    Args:
        boards: records of one hand each.
        results: the par and contracts of each board, None without.
        title: the name of the game.
        note: a line of text above the table for the results.
    """
    holders = [*SEATS, *[KITTY] * ("kitty" in boards[0].hands[0])]
    parts = [page for at, name in enumerate(holders) for page in _cards(boards, at, name, title)]
    boxes = [
        _board(number, record, result)
        for number, (record, result) in enumerate(zip(boards, results, strict=True), 1)
    ]
    legend = _NO_PAR if results[0] is None else _LEGEND
    words = f"<p>{escape(legend)}</p>"
    parts += _pages(f"All hands: {title}", "boards", boxes, BOARDS_OF_PAGE, words)
    parts.append(_results(results, title, note))
    return document(f"{title} · boards", None, body="\n".join(parts), script="", style=_STYLE)


def _pages(
    title: str, kind: str, articles: Sequence[str], most: int, words: str = ""
) -> Iterator[str]:
    """Yield sections with up to `most` articles each; `words` (HTML) are in the first one."""
    for at in range(0, len(articles), most):
        inside = "".join(articles[at : at + most])
        head = f"<h1>{escape(title)}</h1>{words if at == 0 else ''}"
        yield f'<section>{head}<div class="{kind}">{inside}</div></section>'


def _cards(boards: Sequence[GameRecord], at: int, name: str, title: str) -> Iterator[str]:
    """Yield the pages with the cards of a seat, or with the kitty at its end."""
    articles = []
    for number, record in enumerate(boards, 1):
        hand = record.hands[0]
        cards = hand["kitty"] if name == KITTY else hand["deal"][at]
        head = f"<h2>Board {number} · {name}</h2>Dealer: {SEATS[hand['dealer']]}"
        articles.append(f"<article>{head}<div>{_suits(cards)}</div></article>")
    return _pages(f"{name}: {title}", "cards", articles, CARDS_OF_PAGE)


def _suits(cards: Sequence[str]) -> str:
    """Return a paragraph for each suit, high cards first."""
    lines = []
    for suit in "SHDC":
        ranks = [signed(name)[:-1] for name in cards if name[1] == suit]
        lines.append(f"<p><b>{_sign(suit)}</b>{' '.join(ranks) or VOID}</p>")
    return "".join(lines)


def _sign(strain: str) -> str:
    """Return a strain as HTML: a suit symbol, or its name."""
    sign = signed(strain)
    return f'<span class="red">{sign}</span>' if strain in ("H", "D") else sign


def _board(number: int, record: GameRecord, result: Makeable | None) -> str:
    """Return the box of a board: the hands around the table, tricks in the corners, par."""
    hand = record.hands[0]
    south, west, north, east = (
        f'<div class="hand"><h3>{name}</h3>{_suits(cards)}</div>'
        for name, cards in zip(SEATS, hand["deal"], strict=True)
    )
    with_partner = alone = words = ""
    if result is not None:
        strains = record.rules.strains
        with_partner = f"<h3>with partner</h3>{_tricks(result.table.partnered, strains)}"
        if any(bid.alone for bid in record.rules.ladder):
            alone = f"<h3>alone</h3>{_tricks(result.table.alone, strains)}"
        words = f"<p><b>Par</b> {_par(result.par)}</p>{_lone(result.lone)}"
    kitty = f"<h3>{KITTY}</h3>{_suits(hand['kitty'])}" if "kitty" in hand else ""
    head = f"<div><h2>Board {number}</h2>Dealer: {SEATS[hand['dealer']]}</div>"
    grid = (
        f"{head}{north}<div>{with_partner}</div>{west}<div></div>{east}"
        f'<div class="hand">{kitty}</div>{south}<div>{alone}</div>'
    )
    return f'<article><div class="hands">{grid}</div>{words}</article>'


def _tricks(tricks: Array, strains: Sequence[str]) -> str:
    """Return a table of tricks by declarer and strain."""
    rows = [[name[0], *map(str, each)] for name, each in zip(SEATS, tricks, strict=True)]
    return table(("", *map(signed, strains)), rows)


def _par(par: Par) -> str:
    """Format par: "4 ♥ by West, 5 tricks: South-North -4"."""
    if par.contract is None or par.declarer is None:
        return "passed out: 0 points"
    bid, _, strain = par.contract.rpartition(" ")
    contract = f"{bid} {_sign(strain)} by {SEATS[par.declarer]}"
    return f"{contract}, {par.tricks} tricks: {SIDE} {par.points:+d}"


def _lone(lone: dict[str, tuple[tuple[str, ...], ...]]) -> str:
    """Return a paragraph for the lone bids that make; those with equal strains are listed once."""
    names: dict[str, list[str]] = {}
    for name, by_seat in lone.items():
        seats = [
            f"{seat} {' '.join(map(_sign, strains))}"
            for seat, strains in zip(SEATS, by_seat, strict=True)
            if strains
        ]
        names.setdefault("; ".join(seats) or "none", []).append(name)
    parts = (f"<b>{', '.join(bids)}</b> {who}" for who, bids in names.items())
    return f"<p>{' · '.join(parts)}</p>"


def _results(results: Sequence[Makeable | None], title: str, note: str) -> str:
    """Return the section with the form for contracts and points."""
    heads = ("", *(f"table {number}" for number in range(1, TABLES + 1)), "par")
    rows = [
        (str(number), *[""] * TABLES, "" if each is None else f"{each.par.points:+d}")
        for number, each in enumerate(results, 1)
    ]
    words = f"Contract, declarer and points of {SIDE} minus the others', by board. {note}"
    return (
        f'<section class="results"><h1>Results: {escape(title)}</h1><p>{escape(words)}</p>'
        f"{table(heads, rows)}</section>"
    )
