"""`card_suit` and `card_power` agree with the second engine of the tests."""

from itertools import product

import pytest
from oracles.reference import suit_of, winner_of

from bideuchre_env import card_power, card_suit
from bideuchre_env.errors import NotationError
from bideuchre_env.rules.cards import CARD_NAMES, STRAINS


@pytest.mark.parametrize("strain", STRAINS)
def test_the_power_of_a_card_decides_a_trick_as_the_reference_does(strain):
    for led, other in product(CARD_NAMES, repeat=2):
        suit = card_suit(led, strain)
        assert suit == suit_of(led, strain)
        powers = card_power(led, strain), card_power(other, strain, led=suit)
        assert powers[0] > 0
        follower_wins = winner_of([(0, led), (1, other)], strain) == 1
        assert follower_wins == (powers[1] > powers[0])


def test_the_power_of_what_is_no_card_or_no_suit_is_refused():
    for arguments in (("1H", "H"), ("JH", "X"), (3, "H"), ("JH", "H", "X"), ("JH", "H", 2)):
        with pytest.raises(NotationError):
            card_power(*arguments)
    with pytest.raises(NotationError, match=r"^led='NT': expected one of C D H S$"):
        card_power("JH", "NT", led="NT")
    with pytest.raises(NotationError, match="is no card"):
        card_suit("10H", "NT")
