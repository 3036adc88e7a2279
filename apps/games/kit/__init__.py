"""The kit: what several games share, written once.

It implements the common rules (docs/games/common.md, sections 2 to 7) under the contract (apps/games/contract.py).  It
knows no game, and like every game it reads no clock, file, network, database or random source.

How a game uses it
==================

*Cards are small integers inside, texts outside.*  A ``CardTable`` (cards.py) holds the canonical order of a deck; a
card is its canonical index, so "sorted by canonical order" is ``sorted``.  A zone is a tuple of such integers.  What a
card is (its colour, rank, points) is looked up in tuples that a game builds once per table.

*A state is a value.*  A game derives a slotted dataclass from ``Round`` (round.py), adds its own fields, and writes
``copy``.  A call copies the state once, and the procedures of the rule page change that copy::

    def act(self, state, seat, action, now, chance):
        guards.may_act(state, seat, now)                     # common guards, in order
        verb = grammar.check(VERBS, action, state.deal)      # bad_action
        s, call = state.copy(), Call(now, chance)
        if seat == s.seat:
            s.acted = True
        ACTIONS[verb](s, seat, action, call)                 # guards of the page, then the effect
        return call.step(s)

The copy is shallow.  So a procedure may *assign* any field of ``s``, and must never change a tuple's or dict's insides:
``s.deck = s.deck[1:]``, ``s.put(seat, cards)``, ``s.piles = {**s.piles, seat: cards}``.  Once a call has returned, its
state is never changed again; a guard that fails half way leaves only the copy behind.

*A call* (``Call``, round.py) carries its time and chance through the procedures and collects events and generations:
``call.emit({"type": "passed", "seat": seat})``.  Event dicts are made new each time, since callers add to them.  A card
in an event is ``s.hidden(card)`` or ``s.shown(card)``, which is ``<h>`` and ``<s>`` of the rule pages.

The modules, by the section of the common rules that they implement:

========== ============================================================================================================
cards      CardTable; from faces and copies to codes
opening    ``start``: guards (bad_option to bad_carry) in order, ``Deal``, the round-robin deal, ``round_started``
round      ``Round`` (shared state), ``Call``, places, ``<h>``, ``<s>``, dump and load of the shared part
guards     common guards of ``act``, ``leave``, ``connection``, ``view``; ``listens`` for ``legal``
grammar    ``bad_action``: an action's form, as a table of verbs
turns      next(s), ring from s, ``clock``, turn_started, clock_changed, timed_out, ``wake``, ``connection``
drawing    DRAW, RESHUFFLE, a new generation
ending     left, aside, END: revealed and round_over; ranking groups
views      the shared view and lists of cards in it
========== ============================================================================================================

A game package has, by convention: ``__init__`` (``GAME``), ``cards``, ``state``, ``rules`` (the procedures),
``actions`` (guards and ``legal``), ``view``, ``game`` (the contract's methods), ``bot`` (``choose``).  ``State.zones``
must name every place where a card can be; the laws add them up (tests/games/laws.py).
"""
