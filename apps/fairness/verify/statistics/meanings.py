"""What each test of the battery looks at, in words for people.  Never decides anything."""

from __future__ import annotations

from typing import Final

TESTS: Final = {
    "repeated_decks": "No deck comes twice. If one does, seeds are drawn from too few, or decks are used again.",
    "position_by_card": "Each card lies at each place equally often. If not, the shuffle leans, or is too even.",
    "first_cards": "Each card is among the first ones equally often. If not, the cards dealt first lean.",
    "successor_order": "Each card follows each other card equally often. If not, cards stay together.",
    "fixed_points": "About one card lies at its old place. If not, cards are kept in, or off, their places.",
    "cycles": "The order falls into as many cycles as chance has it. If not, swaps are drawn in a wrong way.",
    "adjacent_pairs": "About one card is still followed by its old follower. If more, the deck was mixed too little.",
    "descents": "About half of the cards are greater than the next one. If not, runs of the old order are left.",
    "inversions": "About half of all pairs are in the wrong order. If not, the deck is still sorted, or turned round.",
    "parity": "Half of all orders are even. If not, the number of swaps follows a pattern.",
    "lag_places": "A deck has about one card at the place of the deck before it. If more, decks are used again.",
    "lag_neighbours": "A deck keeps about one neighbour of the deck before it. If more, it was made from that one.",
    "lag_order": "A deck is in no order of the deck before it. If it is, it was made from that one.",
    "repeated_seeds": "No seed of the house comes twice. If one does, its generator is broken, or it chose.",
    "repeated_nonces": "No bytes of a seat come twice. If they do, a client sends bytes that can be foreseen.",
    "void_tables": "Voids fall on all tables alike. If not, ask why one table is called off more often.",
    "void_indexes": "Voids come at all times of a table alike. If not, ask what happened at that time.",
    "void_decks": "Voided decks begin like any others. If not, rounds were called off for their cards.",
    "void_results": "Voided decks would have brought the seats what others do. If not, somebody was helped.",
    "void_seat": "No single seat of a table would have gained or lost by its voids. If one did, ask who sat there.",
}
"""Test to what it expects, and what the opposite suggests."""
