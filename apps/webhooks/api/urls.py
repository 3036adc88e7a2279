"""Routes of webhooks, under /v1/."""

from django.urls import path

from apps.webhooks.api import views

urlpatterns = [
    path("events", views.EventsView.as_view(), name="events"),
    path("webhooks", views.EndpointsView.as_view(), name="webhooks"),
    path("webhooks/<uuid:endpoint_id>", views.EndpointView.as_view(), name="webhook"),
    path("webhooks/<uuid:endpoint_id>/rotate", views.RotateView.as_view(), name="webhook-rotate"),
    path("webhooks/<uuid:endpoint_id>/test", views.TestView.as_view(), name="webhook-test"),
    path("webhooks/<uuid:endpoint_id>/replay", views.ReplayView.as_view(), name="webhook-replay"),
    path("webhooks/<uuid:endpoint_id>/deliveries", views.DeliveriesView.as_view(), name="webhook-deliveries"),
]
