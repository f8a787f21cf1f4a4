"""The table of settings: every key with its default, the line that explains it, and what a value has to be.

Each section is a frozen dataclass and each field is one key. Reading, the example file and the reference all
follow from this table (server/config/load.py); a key that is added here is read, shown and documented.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import UTC, tzinfo
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeVar

from server.config.validators import (
    CLASS_NAME,
    DAYS,
    FOLDER,
    HOSTS,
    LOCATION,
    NAME,
    ORIGINS,
    REGION,
    SUBJECT,
    SWITCH,
    URL,
    ZONE,
    Check,
    is_remote,
    number,
    one_of,
    whole,
    zone_of,
)
from stilltrue.classes import DEFAULT_CLASS

T = TypeVar("T")

PREFIX = "STILLTRUE_"
"""What every environment variable of ours begins with."""


@dataclass(frozen=True, slots=True)
class Key:
    """One line of the table. `section` is "recall", or "classes.NAME" for the keys of a class."""

    section: str
    name: str
    default: Any
    doc: str
    check: Check

    @property
    def dotted(self) -> str:
        """As flags and messages call it: recall.budget_tokens."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """As the environment calls it: STILLTRUE_RECALL_BUDGET_TOKENS."""
        return PREFIX + self.dotted.replace(".", "_").upper()


def user_folder() -> Path:
    """The folder of ours among the user's data. It need not exist yet."""
    import platformdirs

    return platformdirs.user_data_path("stilltrue", appauthor=False)


def key(default: T, doc: str, check: Check) -> T:
    """A field of a section, as a dataclass takes it."""
    return field(default=default, metadata={"doc": doc, "check": check})


@dataclass(frozen=True, slots=True)
class StoreSection:
    """Where the memory lies."""

    uri: str = key(
        "",
        "Folder of the store, s3://BUCKET/PREFIX or db://NAME; a relative path starts in the working folder; "
        'empty: "local" in the user\'s data folder. See docs/scaling.md',
        LOCATION,
    )
    endpoint: str = key(
        "", "URL of the object storage, or of the LanceDB service; empty: that of AWS, or of LanceDB Cloud", URL
    )
    region: str = key(
        "", "Region of the bucket or service; empty: AWS_REGION says it. Keys are taken from the environment", REGION
    )
    lock_timeout_s: float = key(30.0, "Seconds that a write waits for the write of another process", number(0, 3600))

    @property
    def remote(self) -> bool:
        """Whether the store is not in a folder of this machine."""
        return is_remote(self.uri)

    def location(self) -> str:
        """Where the store lies, resolved: an absolute path, or the uri."""
        return self.uri if self.remote else str(self.folder())

    def folder(self) -> Path:
        """The folder of the store, absolute. It need not exist yet. For a store that is in one."""
        return Path(self.uri).expanduser().absolute() if self.uri else user_folder() / "local"


@dataclass(frozen=True, slots=True)
class EmbeddingSection:
    """The model that finds notes by meaning."""

    engine: Literal["auto", "onnx", "sentence-transformers", "none"] = key(
        "auto",
        "What runs the model; auto: onnx if it can, else sentence-transformers; none: full text alone",
        one_of("auto", "onnx", "sentence-transformers", "none"),
    )
    model: str = key("sentence-transformers/all-MiniLM-L6-v2", "Name of the model", NAME)
    path: str = key("", "Folder with the model; empty: it is looked for by its name", FOLDER)
    allow_download: bool = key(False, "Whether a model that is not on this machine may be downloaded", SWITCH)
    download_deadline_s: float = key(120.0, "Seconds that a download may take in all", number(1, 86400))
    threads: int = key(1, "Threads of the model; for single queries one is fastest", whole(1, 64))

    def folder(self) -> Path | None:
        """The folder with the model, absolute; None where it is looked for by its name."""
        return Path(self.path).expanduser().absolute() if self.path else None


@dataclass(frozen=True, slots=True)
class MemorySection:
    """What holds for a note where a call does not say it."""

    default_subject: str = key(
        "user", "Subject of a note that names none; a recall that names none has it too", SUBJECT
    )
    default_class: str = key(DEFAULT_CLASS, "Class of a note that names none", CLASS_NAME)
    zone: str = key("UTC", "Time zone of a date or time that is given without one", ZONE)
    text_limit_bytes: int = key(32768, "Longest text of a note, in bytes of UTF-8", whole(1, 1 << 20))

    def tzinfo(self) -> tzinfo:
        """The zone as `datetime` takes it."""
        return zone_of(self.zone) or UTC


@dataclass(frozen=True, slots=True)
class RecallSection:
    """How chains are ranked and packed. Requirements are told in full, whatever stands here."""

    budget_tokens: int = key(1200, "Most tokens of the chains in an answer", whole(1, 1_000_000))
    max_chains: int = key(12, "Most chains in an answer", whole(1, 1000))
    candidates: int = key(50, "Notes that each search hands to the ranking", whole(1, 1000))
    weight_relevance: float = key(0.7, "Weight of relevance: how well it fits the query", number(0, 1))
    weight_recency: float = key(0.15, "Weight of recency: how lately it was read", number(0, 1))
    weight_importance: float = key(
        0.15, "Weight of importance; one of the three weights has to be above 0", number(0, 1)
    )
    lexical_share: float = key(
        0.45, "Share of relevance that full text decides; the model decides the rest", number(0, 1)
    )
    late_share: float = key(
        0.8, "Part of relevance that is compared token by token, the rest is the first mix; 0: off", number(0, 1)
    )
    retrieval_bonus: float = key(0.05, "How much importance grows with the logarithm of retrievals", number(0, 1))
    mmr_lambda: float = key(0.7, "1: the best chains, however alike; 0: the most different ones", number(0, 1))
    rerank_model: str = key(
        "",
        "Folder or name of a cross-encoder that replaces relevance; empty: none. It needs sentence-transformers",
        Check(str, "text of up to 200 characters", lambda value: len(value) <= 200 and value.isprintable()),
    )
    refresh_floor_s: float = key(60.0, "Seconds in which a note that is read again counts once", number(0, 86400))


@dataclass(frozen=True, slots=True)
class RequirementsSection:
    """What becomes of a rule that an agent states, replaces or lifts."""

    confirm: Literal["never", "elicit"] = key(
        "never",
        "elicit: the client asks the user first; where it cannot, the rule is stored and marked unconfirmed",
        one_of("never", "elicit"),
    )


@dataclass(frozen=True, slots=True)
class ServerSection:
    """The process that clients talk to."""

    log_level: Literal["debug", "info", "warning", "error", "critical"] = key(
        "warning",
        "Least level that is logged, to stderr",
        one_of("debug", "info", "warning", "error", "critical"),
    )
    structured: bool = key(True, "Whether answers carry structured content beside the text", SWITCH)
    workers: int = key(4, "Calls that are worked on at the same time", whole(1, 64))
    era: Literal["both", "handshake"] = key(
        "both",
        "Protocols on stdio; handshake: for a client that probes for the newer one and then does not speak it",
        one_of("both", "handshake"),
    )


@dataclass(frozen=True, slots=True)
class HttpSection:
    """`stilltrue serve --http`. See docs/http.md."""

    host: str = key("127.0.0.1", "Address to listen on; any other than this machine's own asks for tokens", NAME)
    port: int = key(8765, "Port to listen on; 0: any that is free", whole(0, 65535))
    allowed_hosts: str = key("", "Hosts by which it may be called, beside localhost; a proxy's, with commas", HOSTS)
    allowed_origins: str = key("", "Origins whose pages may call it, beside those of localhost, with commas", ORIGINS)
    body_limit_bytes: int = key(1 << 20, "Longest body of a request", whole(1, 1 << 26))
    open_stores: int = key(32, "Stores that are kept open; the least recently used one is closed", whole(1, 4096))
    path: str = key("", "Folder of the tokens and of the tenants' stores; empty: the user's data folder", FOLDER)
    shutdown_s: float = key(5.0, "Seconds that calls under way have to end when it is stopped", number(0, 60))

    def folder(self) -> Path:
        """The folder of the tokens and of the tenants' stores, absolute. It need not exist yet."""
        return Path(self.path).expanduser().absolute() if self.path else user_folder()


SECTIONS: tuple[tuple[str, type], ...] = (
    ("store", StoreSection),
    ("embedding", EmbeddingSection),
    ("memory", MemorySection),
    ("recall", RecallSection),
    ("requirements", RequirementsSection),
    ("server", ServerSection),
    ("http", HttpSection),
)

KEYS: tuple[Key, ...] = tuple(
    Key(section, each.name, each.default, each.metadata["doc"], each.metadata["check"])
    for section, kind in SECTIONS
    for each in fields(kind)
)

CLASS_KEYS: tuple[Key, ...] = (
    Key("classes.NAME", "requirement", False, "Whether its notes are told always and never ranked", SWITCH),
    Key("classes.NAME", "half_life_days", inf, "Days unread in which recency halves; inf: it never does", DAYS),
    Key(
        "classes.NAME",
        "cardinality",
        "many",
        "Notes of one attribute that a subject holds at once; one: a second brings a warning",
        one_of("one", "many"),
    ),
)


def toml(value: Any) -> str:
    """A value as the file spells it."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
