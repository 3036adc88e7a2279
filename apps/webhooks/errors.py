"""What webhooks refuse, one class per code.

A refusal writes nothing and moves no money.  Source: docs/operators/errors.md.
"""

from __future__ import annotations

from apps.core.errors import ApplicationError


class EndpointNotFound(ApplicationError):
    """The operator has no endpoint of this id."""

    code = "webhook_not_found"
    status = 404
    title = "There is no such webhook endpoint."


class EndpointLimitReached(ApplicationError):
    """The operator has as many endpoints as one may have."""

    code = "webhook_limit_reached"
    status = 409
    title = "There are as many webhook endpoints as one operator may have; delete one first."


class TargetRefused(ApplicationError):
    """The address is not one that this server delivers to."""

    code = "webhook_target_refused"
    status = 422
    title = "Webhooks go to public https addresses, without credentials, on port 443 or above 1023."


class EndpointDisabled(ApplicationError):
    """The endpoint is disabled; nothing is sent there."""

    code = "webhook_disabled"
    status = 409
    title = "The endpoint is disabled; activate it first."
