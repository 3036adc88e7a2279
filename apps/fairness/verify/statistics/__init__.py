"""``sealdeck-verify --statistics``: do many decks together look like what a fair shuffle gives?

Each deck was proven to come from its seed before it is counted here; the battery asks whether the seeds were chosen.
docs/fairness/auditors.md says how to read it.  ``decks``, ``would_be``, ``results`` and ``command`` need Python alone;
the rest needs the extra ``statistics`` (numpy and scipy) and is imported by ``command`` only.
"""
