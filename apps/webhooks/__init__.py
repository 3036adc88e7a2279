"""Events for operators: an outbox written with the fact, signed deliveries, and the same events to pull.

Source: docs/operators/webhooks.md.
"""
