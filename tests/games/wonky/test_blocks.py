"""Wonky: the deck, what goes with what, and the risk of a tower (docs/games/wonky.md, Deck and blocks, Stability)."""

from __future__ import annotations

import itertools

import pytest

from apps.games.wonky import GAME
from apps.games.wonky.blocks import BASE, BLOCKS, Down, Placed, blocks_in, risk
from apps.games.wonky.cards import MATCHES, TABLE
from tests.games.wonky.arranging import tower_of

DECK = GAME.deck({}, 2)


def test_the_deck_has_54_cards_for_all_options_and_seats() -> None:
    assert len(DECK) == len(set(DECK)) == 54
    assert GAME.deck({"tower": "steady"}, 8) == DECK


@pytest.mark.parametrize(
    ("index", "code"),
    [
        (0, "SP#1"), (2, "SP#3"), (3, "SG#1"), (6, "SB#1"), (9, "MP#1"), (26, "LB#3"), (27, "AP#1"), (30, "AG#1"),
        (35, "AB#3"), (36, "SA#1"), (38, "MA#1"), (41, "LA#2"), (42, "PASS#1"), (45, "REV#1"), (48, "ANYD#1"),
        (51, "ANYR#1"), (53, "ANYR#3"),
    ],
)  # fmt: skip
def test_canonical_order(index: int, code: str) -> None:
    assert DECK[index] == code


@pytest.mark.parametrize(
    ("code", "blocks"),
    [
        ("SP#1", "SP"),
        ("MG#3", "MG"),
        ("LB#2", "LB"),
        ("AP#1", "SP MP LP"),
        ("AG#1", "SG MG LG"),
        ("AB#3", "SB MB LB"),
        ("SA#1", "SP SG SB"),
        ("MA#2", "MP MG MB"),
        ("LA#1", "LP LG LB"),
        ("PASS#1", ""),
        ("REV#3", ""),
        ("ANYD#1", "SP SG SB MP MG MB LP LG LB"),
        ("ANYR#2", "SP SG SB MP MG MB LP LG LB"),
    ],
)
def test_a_card_goes_with_its_blocks(code: str, blocks: str) -> None:
    assert [BLOCKS[block] for block in blocks_in(MATCHES[TABLE.index[code]])] == blocks.split()


@pytest.mark.parametrize(
    ("tower", "expected"),
    [
        ("LPf0", 0),
        ("SPc0", 0),
        ("LPf0 MPf0", 300),
        ("LPf0 MPf3", 862),
        ("LPf0 MPf-3", 862),
        ("LPf0 MPf7", 3362),
        ("LPf0 MPf8", 10_000),
        ("LPf0 MPc0", 360),
        ("LPc0 MPf0", 240),
        ("LPc0 MPf8", 1240),
        ("SPf0 LPf0", 460),
        ("LPf0 MPf3 MGf1", 1655),
        ("LPf0 MPf3 MGf3", 2186),
        ("LPf0 MPf3 SPc3", 2246),
        ("LPf0 MGf3 SPc3 LGf1", 4933),
        ("LPf0 LGf0 LBf0 MPf0 MGf0 MBf0 SPf0 SGf0 SBf0", 5980),
    ],
)
def test_risk_of_the_towers_on_the_page(tower: str, expected: int) -> None:
    assert risk(tower_of(tower), BASE["shaky"]) == expected


# Where a formula can be misread: worked out by hand.
@pytest.mark.parametrize(
    ("tower", "expected"),
    [
        ("SPf0 MPf0", 240 + 60 + 80),
        ("MPf0 LPf0", 240 + 60 + 80),
        ("LPf0 SPf0", 240 + 60),
        ("MPc0 MGc0", 240 + 60),  # One flat face meets: curved side down on the flat side above.
        ("MPf0 MGc0", 240 + 120),
        ("MPc0 MGf0", 240 + 0),
        ("MPf0 MGc0 MBf0", 660 + 0 + 300),  # The lower interface counts as OLD.
        ("MPc0 MGf0 MBc0", 660 + 120 + 0),
        ("MPf0 MGf0 MBf0 SPf0", 1300 + 60 + 60 + 60),
        # Lean of 4000 * 27 * 5 // (27 * 12 * 2) = 833: 833**2 // 250 = 2775.
        ("LPf0 SPf5", 240 + 60 + 2775),
        # Lower lean: the two upper ones together over the first; 4000 * (64 * 2 + 27 * 2) // (91 * 32) = 250.
        ("LPf0 MPf2 SPf2", 660 + 60 + 60 + 250**2 // 100),
        # The new one back to the middle: 4000 * 54 // (27 * 24) = 333 on top, 4000 * 128 // (91 * 32) = 175 below.
        ("LPf0 MPf2 SPf0", 660 + 60 + 60 + 333**2 // 250 + 175**2 // 100),
        # Of two lower leans the larger one counts, once: 375 over the second block, (64 * 3 * 2 ...) over the first.
        ("LPf0 LGf0 MPf3 SPf3", 1300 + 60 + 60 + 60 + 375**2 // 100),
        # A lean of 1000 or more at any interface is a certain fall, even if the block itself lies in the middle.
        ("LPf0 SPf6", 10_000),  # Exactly 1000.
        ("SPf0 SGf-8 MBc-11 LPf-3", 9_500),  # Exactly 999 at the lowest interface.
        ("LPf0 MPf8 SPf8", 10_000),
        ("MPf0 MGf7 SPf7 SGf7", 1300 + 60 + 60 + 60 + 875**2 // 100),
        # Capped at 9 500 while nothing leans too far: 986 below gives 9 721 alone.
        ("MPf0 MGf7 SPf10", 9_500),
    ],
)
def test_risk_worked_out_by_hand(tower: str, expected: int) -> None:
    assert risk(tower_of(tower), BASE["shaky"]) == expected


@pytest.mark.parametrize("option", ["shaky", "steady"])
def test_base_by_height_for_blocks_face_to_face(option: str) -> None:
    base = {
        "shaky": (0, 240, 660, 1300, 1940, 2580, 3120, 4060, 5500),
        "steady": (0, 240, 480, 800, 1180, 1560, 1950, 2350, 2760),
    }
    for height, expected in enumerate(base[option], start=1):
        # Medium blocks, turn by turn: a flat face on a flat one (0), then a curved one on a curved one (300 once old).
        tower: tuple[Placed, ...] = tuple((3, "curved" if place % 2 == 0 else "flat", 0) for place in range(height))
        curved = [place for place in range(1, height) if place % 2 == 0]
        under = 0 if not curved else sum(300 if place < height - 1 else 120 for place in curved)
        assert risk(tower, BASE[option]) == expected + under


def test_every_tower_has_a_risk_within_its_bounds() -> None:
    """Against the formula written down a second time, from the top of the page downwards."""
    edge, mass, size = {0: 24, 1: 32, 2: 40}, {0: 27, 1: 64, 2: 125}, {0: 0, 1: 1, 2: 2}
    quarter, new, old = {0: 1, 1: 2, 2: 4}, {0: 120, 1: 60, 2: 0}, {0: 300, 1: 60, 2: 0}
    downs: tuple[Down, ...] = ("flat", "curved")
    ways: list[Placed] = [(block, down, x) for block in (0, 4, 8) for down in downs for x in (-4, 3)]
    for height in (2, 3, 4):
        for tower in itertools.product(ways, repeat=height):
            leans, faces = [], []
            for j in range(height - 1):
                f = int(tower[j][1] == "curved") + int(tower[j + 1][1] == "flat")
                above = tower[j + 1 :]
                m = sum(mass[block // 3] for block, _, _ in above)
                num = abs(sum(mass[block // 3] * (x - tower[j][2]) for block, _, x in above))
                h4 = min(edge[tower[j][0] // 3], edge[tower[j + 1][0] // 3]) // 2 * quarter[f]
                leans.append(4000 * num // (m * h4))
                faces.append(f)
            step = max(0, size[tower[-1][0] // 3] - size[tower[-2][0] // 3])
            expected = 10_000
            if all(lean < 1000 for lean in leans):
                lower = max(leans[:-1]) ** 2 // 100 if height > 2 else 0
                parts = (BASE["steady"][height - 1], new[faces[-1]], sum(old[f] for f in faces[:-1]))
                expected = min(9_500, sum(parts) + leans[-1] ** 2 // 250 + lower + 80 * step)
            assert risk(tower, BASE["steady"]) == expected, tower
