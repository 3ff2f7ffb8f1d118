"""The tables as SQLAlchemy Core sees them. The migrations make them; a test holds the two together.

Every key starts with `stream_id`. The read model's tables are named without their prefix by those who write rows.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, ColumnElement, LargeBinary, MetaData, Table, Text

metadata = MetaData()

streams = Table(
    "log_streams",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("uuid", LargeBinary),
    Column("name", Text),
    Column("created_at", BigInteger),
    Column("last_seq", BigInteger),
    Column("head_hash", LargeBinary),
    Column("parent", Text),
    Column("parent_seq", BigInteger),
    Column("stale", Text),
    Column("projection", BigInteger),
)

event_types = Table(
    "log_event_types",
    metadata,
    Column("type_id", BigInteger, primary_key=True),
    Column("dialect", Text),
    Column("layer", Text),
    Column("kind", Text),
    Column("framing", Text),
    Column("encoding", Text),
)

origins = Table(
    "log_origins",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("origin_id", BigInteger, primary_key=True, autoincrement=False),
    Column("run_id", Text),
    Column("parent_run_id", Text),
    Column("name", Text),
)

events = Table(
    "log_events",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("event_id", LargeBinary),
    Column("type_id", BigInteger),
    Column("origin_id", BigInteger),
    Column("source_id", Text),
    Column("occurred_at", BigInteger),
    Column("arrived_at", BigInteger),
    Column("recorded_at", BigInteger),
    Column("body", LargeBinary),
    Column("frame", LargeBinary),
    Column("cuts", LargeBinary),
    Column("meta", LargeBinary),
    Column("codec", BigInteger),
    Column("redacted", Text),
    Column("salt", LargeBinary),
    Column("body_hash", LargeBinary),
    Column("hash", LargeBinary),
    Column("version", BigInteger),
    Column("erased", BigInteger),
)

captures = Table(
    "log_captures",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("capture", BigInteger, primary_key=True, autoincrement=False),
    Column("source", Text),
    Column("format", Text),
    Column("bytes", BigInteger),
    Column("digest", LargeBinary),
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("complete", BigInteger),
    Column("recorded_at", BigInteger),
)

appends = Table(
    "log_appends",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("epoch", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("first_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("last_seq", BigInteger),
)

erasures = Table(
    "log_erasures",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("erasure", BigInteger, primary_key=True, autoincrement=False),
    Column("first_seq", BigInteger),
    Column("last_seq", BigInteger),
    Column("reason", Text),
    Column("erased_at", BigInteger),
    Column("hash", LargeBinary),
)

snapshots = Table(
    "log_snapshots",
    metadata,
    Column("stream_id", BigInteger, primary_key=True),
    Column("reading", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("projection", BigInteger),
    Column("body", LargeBinary),
)

READ_MODEL: dict[str, Table] = {}
"""The read model's tables by the name that projections use."""


def _read_model(
    name: str, keys: str, texts: str, integers: str = "", blobs: str = "", clock: str | None = None
) -> None:
    """Declares `rm_<name>`. `keys` in order, `text:` before a text; `clock` tells at which event a row is."""
    columns: list[Column[Any]] = [Column("stream_id", BigInteger, primary_key=True)]
    for key in keys.split():
        kind, _, plain = key.rpartition(":")
        columns.append(Column(plain, Text if kind else BigInteger, primary_key=True, autoincrement=False))
    columns += [Column(column, Text) for column in texts.split()]
    columns += [Column(column, BigInteger) for column in integers.split()]
    columns += [Column(column, LargeBinary) for column in blobs.split()]
    READ_MODEL[name] = Table(f"rm_{name}", metadata, *columns, info={"clock": clock})


_read_model(
    "runs",
    "text:run_id",
    "layer parent_run_id kind name tags metadata status error serves input_path output_path",
    "first_seq last_seq input_seq output_seq",
    clock="first_seq",
)
_read_model(
    "messages",
    "text:message_ref",
    "layer run_id message_id role model finish_reason text",
    "choice first_seq last_seq input_tokens output_tokens closed superseded",
    clock="first_seq",
)
_read_model("message_pieces", "text:message_ref seq ordinal", "text", clock="seq")
_read_model("message_states", "text:message_ref", "", "closed_seq", "body", clock="closed_seq")
_read_model(
    "tool_call_chunks",
    "seq ordinal",
    "layer run_id message_ref call_ref call_id name args",
    "choice call_index",
    clock="seq",
)
_read_model(
    "tool_calls",
    "text:call_ref",
    "layer run_id message_ref call_id name args args_state executor source",
    "choice position call_index first_seq last_seq legacy",
    clock="first_seq",
)
_read_model(
    "tool_messages",
    "seq ordinal",
    "tool_call_id name content status artifact message_id additional_kwargs response_metadata source run_id executor",
    "content_is_json",
    clock="seq",
)
_read_model(
    "pairings",
    "position",
    "call_ref call_id name status answer_status executor",
    "call_seq answer_seq failed_seq",
    clock=None,
)
_read_model("findings", "seq ordinal", "rule severity run_id call_id detail", clock="seq")


def order_of(table: Table) -> list[ColumnElement[object]]:
    """The columns that put a stream's rows in order: the table's clock first, then its key."""
    clock = table.info["clock"]
    keys = [column for column in table.primary_key.columns if column.name not in ("stream_id", clock)]
    return [*([table.c[clock]] if clock is not None else []), *keys]
