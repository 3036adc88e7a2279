"""Routes of wallets, under /v1/."""

from django.urls import path

from apps.wallets.api import reports, views

urlpatterns = [
    path("wallet/credits", views.CreditsView.as_view(), name="wallet-credits"),
    path("wallet/debits", views.DebitsView.as_view(), name="wallet-debits"),
    path("wallet/transactions", views.TransactionsView.as_view(), name="wallet-transactions"),
    path("wallet/transactions/<str:external_id>", views.TransactionView.as_view(), name="wallet-transaction"),
    path("players/<uuid:player_id>/balance", views.BalanceView.as_view(), name="player-balance"),
    path("reports/daily/<str:day>", reports.DailyFileView.as_view(), name="report-daily"),
    path("ledger/blocks", reports.BlocksView.as_view(), name="ledger-blocks"),
    path("ledger/keys", reports.LedgerKeysView.as_view(), name="ledger-keys"),
]
