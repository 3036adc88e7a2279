"""What every app stands on: clock, ids, errors, idempotency, Redis, health, logs.  Knows no game, player or money."""
