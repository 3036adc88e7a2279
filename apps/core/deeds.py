"""What staff may do to one row in the admin: a page that shows the row, asks for a reason, and calls one service.

A deed needs its own permission, runs in one transaction, and is refused like any request: the page then shows the
refusal and nothing is changed.  Who does it is told to the service as ``staff:ID``, the user's number, which stays when
he is renamed.

Source: docs/support/roles.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from apps.core.admin import LookOnly
from apps.core.errors import ApplicationError
from apps.core.retries import retry

REASON_LENGTH_MAX = 200


class ReasonForm(forms.Form):
    """Why it is done; the history keeps it."""

    reason = forms.CharField(max_length=REASON_LENGTH_MAX, widget=forms.TextInput(attrs={"size": 60}))


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing to do: its name in the address, its button, the permission it needs, and the service call."""

    name: str
    label: str
    permission: str
    perform: Callable[[str, Any, dict[str, Any]], str]
    """Gets the actor, the row and the form's data; returns what to tell the person who did it."""
    is_open: Callable[[Any], bool] = lambda row: True
    """Whether it makes sense for the row as it is now."""
    form: type[forms.Form] = ReasonForm
    warning: str = ""


class Deeds(LookOnly):
    """A model to look at, with deeds on the page of each row."""

    deeds: tuple[Deed, ...] = ()
    change_form_template = "admin/deeds_change_form.html"

    def get_urls(self) -> list[URLPattern]:
        """Add an address for each deed."""
        model = self.model._meta
        mine = [
            path(
                f"<path:pk>/do/{deed.name}/",
                self.admin_site.admin_view(self._page(deed)),
                name=f"{model.app_label}_{model.model_name}_{deed.name}",
            )
            for deed in self.deeds
        ]
        return mine + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show a row with the buttons of what this person may do to it."""
        row = self.get_object(request, object_id)
        buttons = [
            {"label": deed.label, "url": self._address(deed, row)}
            for deed in self.deeds
            if row is not None and request.user.has_perm(deed.permission) and deed.is_open(row)
        ]
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), "deeds": buttons})

    def facts(self, row: Any) -> list[tuple[str, Any]]:
        """Return what the page of a deed shows of the row: name and value."""
        return [(name.replace("_", " "), getattr(row, name)) for name in map(str, self.fields or ())]

    def _address(self, deed: Deed, row: Any) -> str:
        model = self.model._meta
        return reverse(f"admin:{model.app_label}_{model.model_name}_{deed.name}", args=[row.pk])

    def _page(self, deed: Deed) -> Callable[..., HttpResponse]:
        def page(request: HttpRequest, pk: str) -> HttpResponse:
            if not (request.user.has_perm(deed.permission) and self.has_view_permission(request)):
                raise PermissionDenied
            row = self.get_object(request, pk)
            if row is None:
                raise Http404
            form = deed.form(request.POST if request.method == "POST" else None)
            if request.method == "POST" and form.is_valid():
                try:
                    told = retry(lambda: _done(deed, request, row, form.cleaned_data))
                except ApplicationError as refusal:
                    form.add_error(None, f"{refusal.detail} ({refusal.code})")
                else:
                    messages.success(request, told)
                    return HttpResponseRedirect("../../change/")
            context = {
                **self.admin_site.each_context(request),
                "title": deed.label,
                "deed": deed,
                "form": form,
                "facts": self.facts(row),
                "opts": self.model._meta,
                "original": row,
                "is_open": deed.is_open(row),
            }
            return TemplateResponse(request, "admin/deed.html", context, status=409 if form.non_field_errors() else 200)

        return page


def _done(deed: Deed, request: HttpRequest, row: Any, data: dict[str, Any]) -> str:
    with transaction.atomic():
        return deed.perform(f"staff:{request.user.pk}", row, data)
