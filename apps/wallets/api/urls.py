"""Routes of wallets, under /v1/."""

from django.urls import path

from apps.wallets.api import views

urlpatterns = [
    path("wallet/credits", views.CreditsView.as_view(), name="wallet-credits"),
    path("wallet/debits", views.DebitsView.as_view(), name="wallet-debits"),
    path("wallet/transactions", views.TransactionsView.as_view(), name="wallet-transactions"),
    path("wallet/transactions/<str:external_id>", views.TransactionView.as_view(), name="wallet-transaction"),
    path("players/<uuid:player_id>/balance", views.BalanceView.as_view(), name="player-balance"),
]
