"""The table of settings: every key with its default, a line of help, and the check of its value.

Each section is a frozen dataclass and each field is one key. Loading, the example file and the reference are all
derived from this table, so a key added here is read, shown and documented.
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
"""The prefix of our environment variables."""


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table. `section` is a name such as "recall", or "classes.NAME" for the keys of a class."""

    section: str
    name: str
    default: Any
    doc: str
    check: Check

    @property
    def dotted(self) -> str:
        """The name in flags and messages: recall.budget_tokens."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The name of the environment variable: STILLTRUE_RECALL_BUDGET_TOKENS."""
        return PREFIX + self.dotted.replace(".", "_").upper()


def user_folder() -> Path:
    """Our folder in the user's data folder. It need not exist yet."""
    import platformdirs

    return platformdirs.user_data_path("stilltrue", appauthor=False)


def key(default: T, doc: str, check: Check) -> T:
    """A field of a section's dataclass."""
    return field(default=default, metadata={"doc": doc, "check": check})


@dataclass(frozen=True, slots=True)
class StoreSection:
    """Where the memory is stored."""

    uri: str = key(
        "",
        "Folder of the store, s3://BUCKET/PREFIX or db://NAME; a relative path starts in the working folder; "
        'empty: the folder "local" in the user\'s data folder. See docs/scaling.md',
        LOCATION,
    )
    endpoint: str = key("", "URL of the object storage or LanceDB service; empty: AWS or LanceDB Cloud", URL)
    region: str = key(
        "", "Region of the bucket or service; empty: AWS_REGION. Credentials come from the environment", REGION
    )
    lock_timeout_s: float = key(30.0, "Seconds a write waits for another process to finish writing", number(0, 3600))

    @property
    def remote(self) -> bool:
        """Whether the store is anywhere but in a folder on this machine."""
        return is_remote(self.uri)

    def location(self) -> str:
        """The resolved location: an absolute path, or the URI."""
        return self.uri if self.remote else str(self.folder())

    def folder(self) -> Path:
        """The absolute folder of a store that is not remote. It need not exist yet."""
        return Path(self.uri).expanduser().absolute() if self.uri else user_folder() / "local"


@dataclass(frozen=True, slots=True)
class EmbeddingSection:
    """The model that finds notes by meaning."""

    engine: Literal["auto", "onnx", "sentence-transformers", "none"] = key(
        "auto",
        "Engine that runs the model; auto: onnx if possible, else sentence-transformers; none: full-text search only",
        one_of("auto", "onnx", "sentence-transformers", "none"),
    )
    model: str = key("sentence-transformers/all-MiniLM-L6-v2", "Name of the model", NAME)
    path: str = key("", "Folder of the model; empty: find it by name", FOLDER)
    allow_download: bool = key(False, "Whether a model that is not on this machine may be downloaded", SWITCH)
    download_deadline_s: float = key(120.0, "Time limit for a whole download, in seconds", number(1, 86400))
    threads: int = key(1, "Threads for the model; one is fastest for single queries", whole(1, 64))

    def folder(self) -> Path | None:
        """The absolute folder of the model; None if it is found by name."""
        return Path(self.path).expanduser().absolute() if self.path else None


@dataclass(frozen=True, slots=True)
class MemorySection:
    """Defaults and limits for notes."""

    default_subject: str = key("user", "Subject of notes that name none; recalls that name none include it", SUBJECT)
    default_class: str = key(DEFAULT_CLASS, "Class of notes that name none", CLASS_NAME)
    zone: str = key("UTC", "Time zone of dates and times that are given without one", ZONE)
    text_limit_bytes: int = key(32768, "Maximum length of a note, in bytes of UTF-8", whole(1, 1 << 20))

    def tzinfo(self) -> tzinfo:
        """The zone as a tzinfo."""
        return zone_of(self.zone) or UTC


@dataclass(frozen=True, slots=True)
class RecallSection:
    """How chains are ranked and packed. Requirements are always returned in full, whatever is set here."""

    budget_tokens: int = key(1200, "Token budget for the chains in an answer", whole(1, 1_000_000))
    max_chains: int = key(12, "Maximum number of chains in an answer", whole(1, 1000))
    indirect_requirements: int = key(
        12, "Maximum number of requirements of a subject that only a returned note names", whole(0, 10_000)
    )
    unnamed_requirement_tokens: int = key(
        400, "Token limit for everybody's requirements if a query names nobody", whole(0, 1_000_000)
    )
    candidates: int = key(50, "Number of notes that each search passes to the ranking", whole(1, 1000))
    weight_relevance: float = key(0.7, "Weight of relevance: how well a note fits the query", number(0, 1))
    weight_recency: float = key(0.15, "Weight of recency: how recently a note was read", number(0, 1))
    weight_importance: float = key(
        0.15, "Weight of importance; at least one of the three weights has to be above 0", number(0, 1)
    )
    lexical_share: float = key(
        0.45, "Share of full-text search in relevance; the rest comes from the model", number(0, 1)
    )
    late_share: float = key(
        0.8, "Share of token-by-token comparison in relevance; the rest is the mix above; 0: off", number(0, 1)
    )
    retrieval_bonus: float = key(
        0.05, "How much of the bounded boost (0.05) reading a note can use; 0 turns it off", number(0, 1)
    )
    mmr_lambda: float = key(
        0.7,
        "Relevance versus diversity; 1: the best chains, however similar; 0: the most different ones",
        number(0, 1),
    )
    rerank_model: str = key(
        "",
        "Folder or name of a cross-encoder that replaces relevance; empty: none. Needs sentence-transformers",
        Check(str, "text of up to 200 characters", lambda value: len(value) <= 200 and value.isprintable()),
    )
    refresh_floor_s: float = key(
        60.0, "Repeated reads of a note within this many seconds count once", number(0, 86400)
    )


@dataclass(frozen=True, slots=True)
class RequirementsSection:
    """Confirmation of requirements that an agent states, replaces or lifts."""

    confirm: Literal["never", "elicit"] = key(
        "never",
        "elicit: the client asks the user first; if it cannot, the requirement is stored and marked unconfirmed",
        one_of("never", "elicit"),
    )


@dataclass(frozen=True, slots=True)
class ServerSection:
    """The server process."""

    log_level: Literal["debug", "info", "warning", "error", "critical"] = key(
        "warning",
        "Minimum log level; logs go to stderr",
        one_of("debug", "info", "warning", "error", "critical"),
    )
    structured: bool = key(True, "Whether answers include structured content in addition to text", SWITCH)
    workers: int = key(4, "Number of calls that run at the same time", whole(1, 64))
    era: Literal["both", "handshake"] = key(
        "both",
        "Protocol versions on stdio; handshake: only the older ones, for a client that probes for the newer one "
        "but does not use it",
        one_of("both", "handshake"),
    )


@dataclass(frozen=True, slots=True)
class HttpSection:
    """`stilltrue serve --http`. See docs/http.md."""

    host: str = key("127.0.0.1", "Address to listen on; any but a loopback address requires tokens", NAME)
    port: int = key(8765, "Port to listen on; 0: any free port", whole(0, 65535))
    allowed_hosts: str = key(
        "", "Host names besides localhost that requests may use, such as a proxy's; separated by commas", HOSTS
    )
    allowed_origins: str = key(
        "", "Origins besides localhost whose pages may call the server; separated by commas", ORIGINS
    )
    body_limit_bytes: int = key(1 << 20, "Maximum size of a request body, in bytes", whole(1, 1 << 26))
    open_stores: int = key(
        32, "Maximum number of open stores; the least recently used one is closed first", whole(1, 4096)
    )
    path: str = key("", "Folder for the tokens and the tenants' stores; empty: the user's data folder", FOLDER)
    shutdown_s: float = key(5.0, "Seconds that running calls have to finish at shutdown", number(0, 60))

    def folder(self) -> Path:
        """The absolute folder of the tokens and the tenants' stores. It need not exist yet."""
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
    Key(
        "classes.NAME",
        "requirement",
        False,
        "Whether its notes are requirements: always returned, never ranked",
        SWITCH,
    ),
    Key("classes.NAME", "half_life_days", inf, "Days without a read after which recency halves; inf: never", DAYS),
    Key(
        "classes.NAME",
        "cardinality",
        "many",
        "How many notes with the same attribute a subject may have; one: a second one brings a warning",
        one_of("one", "many"),
    ),
)


def toml(value: Any) -> str:
    """A value in TOML syntax."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
