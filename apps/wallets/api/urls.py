"""Routes of wallets, under /v1/."""

from django.urls import path

from apps.wallets.api import desk, reports, views

urlpatterns = [
    path("wallet/credits", views.CreditsView.as_view(), name="wallet-credits"),
    path("wallet/debits", views.DebitsView.as_view(), name="wallet-debits"),
    path("wallet/transactions", views.TransactionsView.as_view(), name="wallet-transactions"),
    path("wallet/transactions/<str:external_id>", views.TransactionView.as_view(), name="wallet-transaction"),
    path("players/<uuid:player_id>/balance", views.BalanceView.as_view(), name="player-balance"),
    path("wallet/holds", desk.HoldsView.as_view(), name="holds"),
    path("wallet/holds/<uuid:hold_id>", desk.HoldView.as_view(), name="hold"),
    path("wallet/holds/<uuid:hold_id>/capture", desk.HoldCaptureView.as_view(), name="hold-capture"),
    path("wallet/holds/<uuid:hold_id>/release", desk.HoldReleaseView.as_view(), name="hold-release"),
    path("corrections", desk.CorrectionsView.as_view(), name="corrections"),
    path("corrections/<uuid:correction_id>", desk.CorrectionView.as_view(), name="correction"),
    path("corrections/reversals", desk.ReversalsView.as_view(), name="reversals"),
    path("corrections/adjustments", desk.AdjustmentsView.as_view(), name="adjustments"),
    path("corrections/resettlements", desk.ResettlementsView.as_view(), name="resettlements"),
    path("alarms", desk.AlarmsView.as_view(), name="alarms"),
    path("currencies", desk.CurrenciesView.as_view(), name="currencies"),
    path("reports/daily/<str:day>", reports.DailyFileView.as_view(), name="report-daily"),
    path("ledger/blocks", reports.BlocksView.as_view(), name="ledger-blocks"),
    path("ledger/keys", reports.LedgerKeysView.as_view(), name="ledger-keys"),
]
