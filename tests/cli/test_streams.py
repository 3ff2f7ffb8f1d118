"""`rec ls`, `rec show`, `rec rename`."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.command import CASSETTES, Rec, on_terminal

NAMES = ["weather", "thinking", "truncated", "agent", "weather-agent"]


def test_ls_lists_streams_in_the_order_in_which_they_were_made(recorded: Rec) -> None:
    listed = recorded("ls", "--json").fine().json
    assert [row["stream"] for row in listed] == NAMES
    assert {name: listed[0][name] for name in ("events", "calls", "findings", "model")} == {
        "events": 20,
        "calls": 1,
        "findings": 0,
        "model": "demo-1",
    }


def test_ls_gives_the_same_rows_in_every_format(recorded: Rec) -> None:
    document = recorded("ls", "--json").fine().json
    assert [json.loads(line) for line in recorded("ls", "--nl").fine().out.splitlines()] == document
    found = list(csv.DictReader(io.StringIO(recorded("ls", "--csv").fine().out)))
    assert found == [{name: "" if value is None else str(value) for name, value in row.items()} for row in document]
    header, rule, *lines = recorded("ls").fine().out.splitlines()
    assert header.split() == list(document[0])
    assert set(rule) == {"-", " "}
    assert [line.split()[0] for line in lines] == NAMES
    assert recorded("ls", "-t").out == recorded("ls", "--table").out == recorded("ls").out


def test_ls_narrows_by_tool_model_and_time(recorded: Rec) -> None:
    def found(*options: str) -> list[str]:
        return [row["stream"] for row in recorded("ls", "--json", *options).fine().json]

    assert found("--tool", "divide") == ["agent"]
    assert set(found("--tool", "get_weather")) >= {"weather", "agent", "weather-agent"}
    assert found("--tool", "nobody's") == []
    assert "agent" not in found("--model", "demo-1")
    assert found("--since", "2999-01-01") == []
    assert found("--since", "2020-01-31T12:00:00") == NAMES


def test_a_list_without_rows_still_has_its_header_and_is_still_json(rec: Rec) -> None:
    rec("db", "upgrade").fine()
    assert rec("ls", "--csv").fine().out == "stream,events,calls,findings,model,created_at,parent\n"
    assert rec("ls", "--json").fine().json == []
    assert rec("ls", "--nl").fine().out == ""


def test_two_formats_at_once_are_refused(recorded: Rec) -> None:
    for verb in (["ls"], ["show", "weather"], ["sql", "SELECT 1"]):
        assert "--json and --csv exclude each other" in recorded(*verb, "--csv", "--json").refusal
        assert "--nl and --table exclude each other" in recorded(*verb, "-t", "--nl").refusal


def test_a_time_that_is_none_is_refused(recorded: Rec) -> None:
    assert "--since yesterday: give a date or time in ISO-8601" in recorded("ls", "--since", "yesterday").refusal


def test_show_gives_events_as_they_were_received(recorded: Rec) -> None:
    shown = recorded("show", "weather", "--json").fine().json
    assert [row["seq"] for row in shown] == list(range(1, 21))
    frames = (CASSETTES / "weather.sse").read_text("utf-8").split("\n\n")[:20]
    assert [f"data: {row['text']}" for row in shown] == frames
    assert shown[0]["dialect"] == "openai.chat"
    assert shown[0]["layer"] == "wire"


@pytest.mark.parametrize(
    ("target", "numbers"),
    [
        ("weather@7", [7]),
        ("weather@4-6", [4, 5, 6]),
        ("weather@18-", [18, 19, 20]),
        ("weather@-2", [1, 2]),
        ("weather@end", [20]),
        ("weather@call_rec0001", list(range(4, 18))),
    ],
)
def test_show_takes_a_part(recorded: Rec, target: str, numbers: list[int]) -> None:
    assert [row["seq"] for row in recorded("show", target, "--json").fine().json] == numbers


@pytest.mark.parametrize("target", ["weather@0", "weather@21", "weather@1-21", "weather@99999999999999"])
def test_show_refuses_events_that_there_are_not(recorded: Rec, target: str) -> None:
    assert recorded("show", target).refusal == f"{target}: stream 'weather' has events 1 to 20"


@pytest.mark.parametrize("verb", [["show"], ["replay"], ["replay", "--emit", "sse"], ["diff"]], ids=" ".join)
def test_a_range_that_runs_backwards_is_refused(recorded: Rec, verb: list[str]) -> None:
    told = recorded(*verb, "weather@5-3").refusal
    assert told == "weather@5-3: the range runs backwards, from event 5 to event 3"


@pytest.mark.parametrize("verb", ["replay", "diff"])
@pytest.mark.parametrize("target", ["weather@3-5", "weather@3-3", "weather@-5", "weather@5-"])
def test_a_range_is_refused_where_one_event_is_wanted(recorded: Rec, verb: str, target: str) -> None:
    told = recorded(verb, target).refusal
    assert told.startswith(f"{target} is a range: the state after its last event is rec replay weather@")
    assert f"its events rec show {target}" in told


def test_what_the_refusal_of_a_range_says_to_write_works(recorded: Rec) -> None:
    told = recorded("diff", "weather@3-5").refusal
    assert "rec replay weather@5, what it changed rec diff weather@2 weather@5, its events" in told
    assert recorded("diff", "weather@2", "weather@5").code == 1


def test_an_unknown_stream_with_a_near_name_gets_it_suggested(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse", "--name", "my weather").fine()
    for verb in (["show"], ["replay"], ["rebuild"], ["diff", "my weather"]):
        assert rec(*verb, "my wether").refusal.endswith("; did you mean 'my weather'?")
    assert rec("rename", "my wether", "x").refusal.endswith("; did you mean 'my weather'?")
    assert "did you mean" not in rec("show", "nobody").refusal


def test_names_in_advice_are_quoted_for_a_shell(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse", "--name", "my weather").fine()
    assert "write 'my weather@call_rec0001'" in rec("replay", "my weather", "--at", "call_rec0001").refusal
    assert "rec replay 'my weather@5'" in rec("replay", "my weather@3-5").refusal


def test_ls_on_a_terminal_leaves_out_what_says_little(recorded: Rec) -> None:
    header, _, first, *_ = on_terminal("ls", "-d", recorded.database, stream="stdout").splitlines()
    assert header.split() == ["stream", "events", "calls", "findings", "model", "created_at"]
    assert re.search(r" \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", first)
    assert re.search(r"\.\d{6}Z", recorded("ls").out), "elsewhere nothing is cut"


def test_ls_on_a_terminal_too_narrow_for_a_table_gives_a_line_a_value(recorded: Rec) -> None:
    shown = on_terminal("ls", "-d", recorded.database, stream="stdout", columns=40)
    assert shown.startswith("stream: weather\nevents: 20\ncalls: 1\n")
    assert "\n\nstream: thinking\n" in shown


def test_show_for_a_person_has_the_url_and_status_of_an_exchange(recorded: Rec) -> None:
    lines = recorded("show", "weather-agent").fine().out.splitlines()
    assert '"method":"POST","url":"http' in lines[2]
    assert '"status":200' in lines[3]


def test_show_of_a_long_body_is_cut_for_a_person_only(rec: Rec) -> None:
    path = rec.file("long.ndjson", b'{"filling": "%s"}\n' % (b"x" * 5000))
    rec("capture", path).fine()
    assert len(rec("show", "long").fine().out) < 1000
    assert len(rec("show", "long", "--json").fine().json[0]["text"]) > 5000


def test_show_on_a_terminal_fits_into_it(recorded: Rec) -> None:
    shown = on_terminal("show", "weather", "-d", recorded.database, stream="stdout", columns=80)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].endswith("…")
    assert max(map(len, recorded("show", "weather").out.splitlines())) > 80, "elsewhere nothing is cut"


def test_show_says_where_a_body_is_no_text(rec: Rec) -> None:
    rec("capture", rec.file("x.sse", b'data: {"a": 1}\n\ndata: \xff\xfe\n\n')).fine()
    assert "(binary)" in rec("show", "x@2").fine().out
    assert rec("show", "x@2", "--json").fine().json[0]["text"] is None


def test_rename_changes_the_name_and_nothing_else(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse").fine()
    before = rec.rows("SELECT uuid, head_hash, last_seq FROM streams")
    assert rec("rename", "weather", "w 2@home").fine().err == ""
    assert rec.rows("SELECT uuid, head_hash, last_seq FROM streams WHERE stream = 'w 2@home'") == before
    assert rec("replay", "w 2@home", "--json").fine().json["stream"] == "w 2@home"
    assert rec("replay", "w 2@home@3", "--json").fine().json["at"] == 3
    assert "there is no stream 'weather'" in rec("show", "weather").refusal


def test_rename_of_the_latest(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse", CASSETTES / "thinking.sse").fine()
    rec("rename", "latest", "t").fine()
    assert [row["stream"] for row in rec("ls", "--json").json] == ["weather", "t"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("weather", "latest", "'latest' cannot be a stream's name"),
        ("weather", "", "a stream's name cannot be empty"),
        ("weather", "  ", "a stream's name cannot be empty"),
        ("weather", "thinking", "there is a stream 'thinking' already"),
        ("nobody", "x", "there is no stream 'nobody'"),
    ],
)
def test_rename_refuses_what_would_confuse(rec: Rec, old: str, new: str, told: str) -> None:
    rec("capture", CASSETTES / "weather.sse", CASSETTES / "thinking.sse").fine()
    assert told in rec("rename", old, new).refusal
    assert [row["stream"] for row in rec("ls", "--json").json] == ["weather", "thinking"]


def test_rename_makes_no_database(tmp_path: Path) -> None:
    rec = Rec(tmp_path / "none.db")
    assert "does not exist" in rec("rename", "a", "b").refusal
    assert not rec.database.exists()


def test_an_unknown_stream_is_named_and_the_way_to_the_known_ones(recorded: Rec) -> None:
    for verb in (["show", "nobody"], ["show", "nobody@3"], ["replay", "nobody"], ["replay", "nobody", "--emit", "sse"]):
        told = recorded(*verb).refusal
        assert "there is no stream 'nobody'" in told
        assert "rec ls lists them" in told


def test_latest_is_the_stream_that_was_appended_to_last(rec: Rec) -> None:
    whole = (CASSETTES / "weather.sse").read_bytes()
    rec("capture", rec.file("a.sse", whole[:500]), CASSETTES / "thinking.sse").fine()
    assert rec("replay", "--json").fine().json["stream"] == "thinking"
    rec("capture", rec.file("a.sse", whole)).fine()
    assert rec("replay", "--json").fine().json["stream"] == "a"
    assert rec("replay", "latest@3", "--json").fine().json["at"] == 3
    assert len(rec("show", "--nl").fine().out.splitlines()) == rec("replay", "--json").json["of"]
    assert rec("show", "latest@2", "--json").fine().json[0]["seq"] == 2


def test_latest_of_an_empty_database_says_what_to_do(rec: Rec) -> None:
    rec("db", "upgrade").fine()
    for verb in (["replay"], ["show"], ["replay", "latest@3"]):
        assert rec(*verb).refusal == "there is no stream in the database yet: rec capture stores one"
