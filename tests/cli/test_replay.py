"""`rec replay`: the state at an event, and the events again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import CASSETTES, Rec
from tests.command import rec as run

CALL = "call_rec0001"


def test_state_in_the_middle_of_an_escape(recorded: Rec) -> None:
    """The mission's own example: what the arguments were at chunk N, though no parser takes them."""
    state = recorded("replay", "weather", "--at", "8", "--json").fine().json
    assert (state["stream"], state["at"], state["of"], state["gather"]) == ("weather", 8, 20, "wire")
    (message,) = state["messages"]
    (call,) = message["calls"]
    assert call["raw"] == '{"city": "Almer\\u0'
    assert (call["value"], call["state"], call["first_seq"], call["last_seq"]) == ({}, "open", 4, 8)
    assert call["seqs"] == [[4, 8]]
    assert message["tool_call_chunks"] == [
        {"name": "get_weather", "args": '{"city": "Almer\\u0', "id": CALL, "index": 0, "type": "tool_call_chunk"}
    ]
    assert message["tool_calls"] == [{"name": "get_weather", "args": {}, "id": CALL, "type": "tool_call"}]
    assert message["finish_reason"] is None
    assert [row["status"] for row in state["pairings"]] == ["open"]


def test_state_as_a_process_of_its_own(recorded: Rec) -> None:
    done = run("replay", "weather", "--at", "8", "--json", "-d", recorded.database).fine()
    assert done.json == recorded("replay", "weather@8", "--json").json
    assert done.err == ""


def test_state_for_a_person(recorded: Rec) -> None:
    assert recorded("replay", "weather", "--at", "8").fine().out == (
        "weather at event 8 of 20 (gathered as wire)\n"
        "\n"
        "ai · demo-1 · events 1 to 8 · not finished\n"
        "  text: Let me look that up.\n"
        "  call get_weather  id call_rec0001  open  events 4-8\n"
        '    arguments so far: {"city": "Almer\\u0\n'
        "    read as: {}\n"
    )
    whole = recorded("replay", "weather").fine().out
    assert "complete  events 4-17\n" in whole
    assert "    not answered\n" in whole
    assert "  tokens: 84 input, 31 output, 115 total\n" in whole


def test_names_ids_and_block_types_of_any_kind_are_shown_on_their_line(rec: Rec, tmp_path: Path) -> None:
    """Nothing that a model was made to say moves the cursor; content without a type, or with an odd one, is shown."""
    call = {"name": "f\x1b[2J\n", "args": "{}", "id": "a\r\u2028", "index": 0}
    content = [{"text": "no type"}, {"type": ["odd"], "text": "b"}, {"type": 1}, {"type": "tool_call", "call_ref": []}]
    chunk = {"type": "AIMessageChunk", "content": content, "tool_call_chunks": [call]}
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"event": "on_chat_model_stream", "run_id": "r\x07", "data": {"chunk": chunk}}) + "\n")
    rec("capture", path).fine()
    shown = [*rec("replay", "odd").fine().out.splitlines(), *rec("diff", "odd@1").fine().out.splitlines()]
    assert all(line.isprintable() for line in shown)
    assert '  block: {"text": "no type"}' in shown
    assert any(line.startswith(r"  call f\u001b[2J\n  id a\r\u2028  open") for line in shown)


def test_state_for_a_person_shows_calls_beside_their_answers(recorded: Rec) -> None:
    shown = recorded("replay", "agent").fine().out
    assert "    answered at event 25\n" in shown
    assert "    error at event 44\n" in shown
    assert "  event 44: call_rec0103 divide (error): Error: ZeroDivisionError" in shown


@pytest.mark.parametrize(("at", "number"), [("0", 0), ("1", 1), ("20", 20), ("end", 20), ("007", 7)])
def test_at_takes_every_event_there_is_and_the_empty_start(recorded: Rec, at: str, number: int) -> None:
    state = recorded("replay", "weather", "--at", at, "--json").fine().json
    assert state["at"] == number
    assert (state["messages"] == []) == (number == 0)


def test_nothing_is_said_to_be_nothing(recorded: Rec) -> None:
    assert "nothing was gathered yet" in recorded("replay", "weather", "--at", "0").fine().out


@pytest.mark.parametrize("at", ["21", "999999", "-1", "x", "", "1.5", " 3", "1_0", "٣", "9" * 30])
def test_at_refuses_what_is_no_event(recorded: Rec, at: str) -> None:
    assert recorded("replay", "weather", "--at", at).refusal == (
        f"--at {at.strip() if at == ' 3' else at}: give an event number from 0 to 20, or end"
        if at.strip()
        else "--at : give an event number from 0 to 20, or end"
    )


def test_an_event_in_the_name_is_the_same_as_at(recorded: Rec) -> None:
    assert recorded("replay", "weather@8", "--json").json == recorded("replay", "weather", "--at", "8", "--json").json
    assert "names an event and --at 9 another" in recorded("replay", "weather@8", "--at", "9").refusal


def test_a_call_or_an_error_can_stand_for_the_event(recorded: Rec, rec: Rec) -> None:
    assert recorded("replay", f"weather@{CALL}", "--json").fine().json["at"] == 17
    assert "has no finding of severity error" in recorded("replay", "weather@first-error").refusal
    error = b'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
    rec("capture", rec.file("e.sse", (CASSETTES / "weather.sse").read_bytes()[:1500] + b"\n\n" + error)).fine()
    (first, *_), *_ = rec.rows("SELECT seq FROM findings WHERE severity = 'error' ORDER BY seq")
    assert rec("replay", "e@first-error", "--json").fine().json["at"] == first


def test_a_place_that_names_nothing_says_what_would(recorded: Rec) -> None:
    for target in ("weather@nothing", "weather@", "weather@x-3"):
        assert recorded("replay", target).refusal == (
            f"{target}: give an event number, a range A-B, end, first-error or a call's id"
        )


def test_message_last_is_the_message_opened_last_with_its_answers(recorded: Rec) -> None:
    whole = recorded("replay", "agent@50", "--json").fine().json
    last = recorded("replay", "agent@50", "--message", "last", "--json").fine().json
    assert last["messages"] == whole["messages"][-1:]
    assert last["tool_messages"] == []
    at_45 = recorded("replay", "agent@45", "--message", "last", "--json").fine().json
    assert [row["tool_call_id"] for row in at_45["tool_messages"]] == ["call_rec0103"]


def test_a_message_can_be_named(recorded: Rec) -> None:
    whole = recorded("replay", "agent", "--json").fine().json
    first = whole["messages"][0]
    for ref in (first["message_ref"], first["message_id"]):
        shown = recorded("replay", "agent", "--message", ref, "--json").fine().json
        assert shown["messages"] == [first]
        assert {row["tool_call_id"] for row in shown["tool_messages"]} == {"call_rec0101", "call_rec0102"}
    assert "no such message at event 59" in recorded("replay", "agent", "--message", "nobody").refusal


def test_a_call_can_be_named(recorded: Rec) -> None:
    shown = recorded("replay", "agent", "--call", "call_rec0102", "--json").fine().json
    assert [call["id"] for message in shown["messages"] for call in message["calls"]] == ["call_rec0102"]
    assert [(row["tool_call_id"], row["content"]) for row in shown["tool_messages"]] == [("call_rec0102", "42")]
    assert [row["call_id"] for row in shown["pairings"]] == ["call_rec0102"]
    assert "no such call at event 4" in recorded("replay", "agent@4", "--call", "call_rec0102").refusal


def test_gather_picks_the_reading(recorded: Rec) -> None:
    for reading in ("wire", "langchain", "langchainjs"):
        assert recorded("replay", "weather", "--gather", reading, "--json").fine().json["gather"] == reading
    assert recorded("replay", "weather", "--gather", "x").refusal == (
        "--gather x: there is no such reading; give wire, langchain or langchainjs"
    )


def test_events_of_javascript_are_gathered_as_javascript_does(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather-js.sse").fine()
    assert "(gathered as langchainjs)" in rec("replay", "weather-js", "--at", "3").fine().out
    assert "(gathered as wire)" in rec("replay", "weather-js", "--at", "3", "--gather", "wire").fine().out


@pytest.mark.parametrize(
    ("name", "form"),
    [("weather.sse", "sse"), ("thinking.sse", "sse"), ("truncated.sse", "sse"), ("agent.jsonl", "jsonl")],
)
def test_emission_in_its_own_form_is_the_file(recorded: Rec, name: str, form: str) -> None:
    done = run("replay", name.partition(".")[0], "--emit", form, "-d", recorded.database).fine()
    assert done.stdout == (CASSETTES / name).read_bytes()


def test_emission_of_a_part_is_that_part(recorded: Rec) -> None:
    blocks = (CASSETTES / "weather.sse").read_bytes().split(b"\n\n")
    wanted = b"".join(block + b"\n\n" for block in blocks[3:6])
    assert recorded("replay", "weather@4-6", "--emit", "sse").fine().stdout == wanted


def test_emission_in_the_other_form_has_the_same_payloads(recorded: Rec) -> None:
    blocks = (CASSETTES / "weather.sse").read_text("utf-8").split("\n\n")[:19]
    lines = recorded("replay", "weather", "--emit", "jsonl").fine().out.splitlines()
    assert lines == [block.removeprefix("data: ") for block in blocks]


def test_changes_are_one_line_an_event(recorded: Rec) -> None:
    lines: list[Any] = [
        json.loads(line) for line in recorded("replay", "weather", "--emit", "changes").fine().out.splitlines()
    ]
    assert [line["seq"] for line in lines] == list(range(1, 21))
    raw = "".join(
        change["value"]
        for line in lines
        for change in line["changes"]
        if change.get("field") == "raw" and change["op"] == "append"
    )
    assert json.loads(raw)["city"] == "Almería"
    part = recorded("replay", "weather@8-9", "--emit", "changes").fine().out.splitlines()
    assert [json.loads(line) for line in part] == lines[7:9]


def emitted(recorded: Rec, *options: str) -> list[Any]:
    return [json.loads(line) for line in recorded("replay", "weather", *options).fine().out.splitlines()]


def test_patches_are_what_langchains_output_parsers_stream(recorded: Rec) -> None:
    lines = emitted(recorded, "--emit", "patch")
    assert lines[:4] == [
        {"seq": 5, "call": "4:0", "id": CALL, "patch": [{"op": "replace", "path": "", "value": {}}]},
        {"seq": 6, "call": "4:0", "id": CALL, "patch": [{"op": "add", "path": "/city", "value": ""}]},
        {"seq": 7, "call": "4:0", "id": CALL, "patch": [{"op": "replace", "path": "/city", "value": "Alm"}]},
        {"seq": 8, "call": "4:0", "id": CALL, "patch": [{"op": "remove", "path": "/city"}]},
    ]
    of_javascript = emitted(recorded, "--emit", "patch", "--gather", "langchainjs")
    assert of_javascript[:4] == [
        {"seq": 5, "call": "4:0", "id": CALL, "patch": []},
        *lines[1:3],
        {"seq": 8, "call": "4:0", "id": CALL, "patch": [{"op": "replace", "path": "/city", "value": "Almeru0"}]},
    ]
    part = recorded("replay", "weather@7-8", "--emit", "patch").fine().out.splitlines()
    assert [json.loads(line) for line in part] == lines[2:4]


def test_values_are_what_they_stream_without_diff(recorded: Rec) -> None:
    lines = emitted(recorded, "--emit", "values")
    assert [line["value"] for line in lines[:4]] == [{}, {"city": ""}, {"city": "Alm"}, {}]
    arguments = {"city": "Almería", "days": 3, "options": {"units": "metric", "hourly": False}}
    assert lines[-1]["value"] == arguments
    whole = emitted(recorded, "--emit", "values", "--whole-call")
    assert whole[-1]["value"] == {"name": "get_weather", "arguments": arguments}
    for form in ([], ["--emit", "changes"]):
        told = recorded("replay", "weather", *form, "--whole-call").refusal
        assert told == "--whole-call goes with --emit patch or --emit values"


def test_emission_refuses_unknown_forms_and_options_of_a_state(recorded: Rec) -> None:
    assert recorded("replay", "weather", "--emit", "xml").refusal == (
        "--emit xml: give one of raw, jsonl, sse, changes, patch, values"
    )
    for option in (["--at", "3"], ["--json"], ["--message", "last"], ["--call", CALL]):
        told = recorded("replay", "weather", "--emit", "sse", *option).refusal
        assert "give one or the other" in told


def test_lone_surrogates_are_printed_as_escapes(rec: Rec) -> None:
    frames = (
        b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"t\\ud83d","tool_calls":'
        b'[{"index":0,"id":"a\\ud83d","function":{"name":"f\\ud83d","arguments":"{\\"x\\": \\"\\\\ud83d\\"}"}}]},'
        b'"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
    )
    path = rec.file("s.sse", frames)
    rec("capture", path).fine()
    for done in (rec("replay", "s"), run("replay", "s", "-d", rec.database)):
        shown = done.fine().out
        assert "text: t\\ud83d" in shown
        assert "call f\\ud83d  id a\\ud83d  complete" in shown
    state = rec("replay", "s", "--json").fine().json
    assert state["messages"][0]["calls"][0]["id"] == "a\ud83d"
    assert rec("replay", "s", "--emit", "sse").fine().stdout == frames
    assert "a\\ud83d" in rec("sql", "--csv", "SELECT call_id FROM tool_calls").fine().out
    assert '"call_id": "a\\\\ud83d"' in rec("sql", "--nl", "SELECT call_id FROM tool_calls").fine().out


def test_control_characters_do_not_reach_the_terminal(rec: Rec) -> None:
    content = b'{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a\\u001b[2Jb"}}]}'
    rec("capture", rec.file("c.ndjson", content + b"\n")).fine()
    assert "a\\u001b[2Jb" in rec("replay", "c").fine().out
    assert "\x1b" not in rec("show", "c").fine().out
