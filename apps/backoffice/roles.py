"""Roles of staff: which permissions each has.  Groups of Django's own, made by ``manage.py staff_roles``.

Nobody can do alone what needs two: support and finance may ask for a correction, finance decides those of others.

Source: docs/support/roles.md.
"""

from __future__ import annotations

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

OURS = ("accounts", "wallets", "tables", "fairness", "history", "webhooks")
DEEDS = {
    "support": ("accounts.set_player_status", "wallets.request_correction", "wallets.release_hold"),
    "finance": (
        "wallets.request_correction",
        "wallets.decide_correction",
        "wallets.release_hold",
        "wallets.clear_alarm",
    ),
    "auditor": (),
    "admin": ("accounts.set_player_status", "wallets.clear_alarm"),
}
"""What each role may do, beside looking at everything of ours.  ``admin`` also keeps the staff's logins."""
LOGINS = Q(content_type__app_label="auth", content_type__model__in=["user", "group"])


@transaction.atomic
def roles_make() -> list[str]:
    """Make the groups of the roles, or bring them to what stands here; return their names."""
    for role, deeds in DEEDS.items():
        group, _ = Group.objects.get_or_create(name=role)
        wanted = Q(content_type__app_label__in=OURS, codename__startswith="view_")
        for deed in deeds:
            app, _, codename = deed.partition(".")
            wanted |= Q(content_type__app_label=app, codename=codename)
        if role == "admin":
            wanted |= LOGINS
        group.permissions.set(Permission.objects.filter(wanted))
    return list(DEEDS)
