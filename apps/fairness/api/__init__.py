"""The public face of fairness: everybody may read it, nobody needs a login."""
