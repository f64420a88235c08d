"""The knowledge of the seat to act in a state row, as arguments of `known_position`."""

from bideuchre_env.core.state import GIVING, PASSING, PLAY
from bideuchre_env.rules import actions
from bideuchre_env.rules.cards import CARD_NAMES, MAX_TRICKS, N_SEATS, STRAINS, hand_names


def knowledge_of(state, rules):
    """Return the keywords of `known_position` for the knowledge of the seat to act, as a dict."""
    acts, seat, side = actions.of(rules), int(state["turn"]), int(state["turn"]) & 1
    dealer, declarer = int(state["dealer"]), int(state["declarer"])
    names = []
    for place in range(1, 1 + int(state["calls_made"])):
        who = (dealer + place) % N_SEATS
        call = int(state["calls"][who])
        bid = acts.contract(call - 1, int(state["call_strains"][who]))
        names.append("pass" if call == 0 else f"bid {bid}")
    result = {"hand": hand_names(int(state["hands"][seat])), "seat": seat, "calls": names}
    result |= {"score": (int(state["score"][side]), int(state["score"][1 - side]))}
    result |= {"deal": int(state["hands_dealt"])}
    after_calls = state["phase"] >= GIVING
    if after_calls and rules.strain_named == "after_auction":
        result["strain"] = STRAINS[int(state["strain"])]
    if (after_calls and state["given"][0] >= 0) or state["phase"] in (GIVING, PASSING):
        given_cards, passed = (
            [CARD_NAMES[kind] for kind in state[half] if kind >= 0] for half in ("given", "passed")
        )
        if seat == declarer:
            result |= {"given": given_cards, "passed": passed if state["phase"] == PLAY else []}
        elif seat == declarer ^ 2:
            result["passed"] = passed
    result["played"] = played(state)
    return result


def played(state):
    """The names of the cards played in a hand, in the order of play."""
    names = []
    for trick in range(min(int(state["trick"]) + 1, MAX_TRICKS)):
        leader = int(state["leaders"][trick])
        for place in range(N_SEATS if leader >= 0 else 0):
            kind = int(state["plays"][(leader + place) % N_SEATS * MAX_TRICKS + trick])
            names += [CARD_NAMES[kind]] if kind >= 0 else []
    return names
