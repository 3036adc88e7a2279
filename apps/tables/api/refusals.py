"""Which errors each operation of tables refuses with, for the API document."""

from __future__ import annotations

from apps.accounts.errors import (
    GamingDisabled,
    LimitExceeded,
    PlayerClosed,
    PlayerExcluded,
    PlayerFrozen,
    PlayerNotFound,
)
from apps.core.api.parsers import MalformedJson
from apps.core.idempotency import IdempotencyKeyInvalid
from apps.fairness.errors import (
    ContributionForm,
    ContributionMismatch,
    ContributionRepeated,
    ContributionSignature,
    DeadlinePassed,
    KeysUnavailable,
    LogUnavailable,
    OpenUnpublished,
    RoundStage,
    ViewEarly,
    ViewUnknown,
)
from apps.games.contract import RuleError
from apps.tables.errors import (
    AlreadyReady,
    AlreadySeated,
    AutoReadyNotAllowed,
    BotsNotAllowed,
    BuyInShort,
    CommitmentNotPublished,
    GameUnknown,
    NotDealtIn,
    NotSeated,
    NotThisRound,
    RequestKeyReused,
    RoundClosed,
    RoundNotFound,
    RoundNotRunning,
    RoundRunning,
    SeatInPlay,
    SeatTaken,
    SeatUnknown,
    SelfPlay,
    SpectatorsNotAllowed,
    StaleSeq,
    TableBusy,
    TableClosed,
    TableFull,
    TableNotFound,
    TablePaused,
    TableSettingInvalid,
    TooManyCalls,
    WrongTableCode,
)
from apps.wallets.errors import (
    AccountFrozen,
    BuyInPending,
    BuyInRefused,
    BuyInUnknown,
    CurrencyUnknown,
    CursorInvalid,
    OperatorUnavailable,
    TestPlayerMoney,
)

MAY_PLAY = (
    GamingDisabled,
    PlayerClosed,
    PlayerFrozen,
    PlayerExcluded,
    LimitExceeded,
)
CONTRIBUTION = (
    ContributionForm,
    ContributionSignature,
    ViewUnknown,
    ViewEarly,
    RoundStage,
)
TABLE_CREATE = (
    GameUnknown,
    TableSettingInvalid,
    CurrencyUnknown,
    LogUnavailable,
    KeysUnavailable,
)
TABLE_LIST = (MalformedJson,)
TABLE_GET = (TableNotFound,)
TABLE_STATUS_SET = (
    TableNotFound,
    TableClosed,
    TableBusy,
)
SEAT_TAKE = (
    TableNotFound,
    TableClosed,
    TablePaused,
    WrongTableCode,
    SeatUnknown,
    SeatTaken,
    TableFull,
    AlreadySeated,
    SelfPlay,
    BotsNotAllowed,
    *MAY_PLAY,
)
SEAT_STAND_UP = (
    TableNotFound,
    NotSeated,
    SeatInPlay,
)
SEAT_READY = (
    TableNotFound,
    NotSeated,
    NotThisRound,
    RoundRunning,
    CommitmentNotPublished,
    AlreadyReady,
    SelfPlay,
    BuyInShort,
    TablePaused,
    OpenUnpublished,
    *CONTRIBUTION,
    ContributionRepeated,
    *MAY_PLAY,
    AccountFrozen,
    BuyInPending,
    BuyInRefused,
    BuyInUnknown,
    OperatorUnavailable,
    TestPlayerMoney,
)
SEAT_OPEN = (
    TableNotFound,
    NotSeated,
    NotThisRound,
    CommitmentNotPublished,
    AlreadyReady,
    *CONTRIBUTION,
    ContributionMismatch,
    DeadlinePassed,
)
SEAT_AUTO_READY = (
    TableNotFound,
    NotSeated,
    AutoReadyNotAllowed,
)
SEAT_AWAY_SET = (
    TableNotFound,
    NotSeated,
    AlreadyReady,
)
TABLE_FOLLOW = (
    TableNotFound,
    SpectatorsNotAllowed,
)
ROUND_SEE = (
    RoundNotFound,
    SpectatorsNotAllowed,
)
ROUND_ACT = (
    IdempotencyKeyInvalid,
    RequestKeyReused,
    NotDealtIn,
    RoundNotFound,
    RoundNotRunning,
    RoundClosed,
    StaleSeq,
    TooManyCalls,
    RuleError,
)
ROUND_LEAVE = (
    RoundNotFound,
    NotDealtIn,
    RoundNotRunning,
    RoundClosed,
    RuleError,
)
HAND_LIST = (CursorInvalid, PlayerNotFound, TableNotFound)
HAND_GET = (RoundNotFound, NotDealtIn)
