"""Provable fairness: the pure protocol, and around it sealed seeds, signing keys and the public log."""
