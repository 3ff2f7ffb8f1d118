"""`rec diff`: what one event changed, how two states differ."""

from __future__ import annotations

import json

import jsonpatch
import pytest

from tests.command import CASSETTES, Rec


def test_one_event_for_a_person(recorded: Rec) -> None:
    assert recorded("diff", "weather@9").fine().out == (
        'call 4:0  append raw          "0ed"\ncall 4:0  restore value.city\ncall 4:0  append value.city   "erí"\n'
    )


def test_one_event_as_json_is_its_line_of_the_changes(recorded: Rec) -> None:
    lines = recorded("replay", "weather", "--emit", "changes").fine().out.splitlines()
    for n in (1, 4, 9, 18, 20):
        assert recorded("diff", f"weather@{n}", "--json").fine().json == json.loads(lines[n - 1])


def test_one_event_that_changed_nothing_says_so(rec: Rec) -> None:
    rec("capture", rec.file("c.sse", b'data: {"object":"chat.completion.chunk","choices":[]}\n\n: ping\n\n')).fine()
    done = rec("diff", "c@2").fine()
    assert (done.out, done.err) == ("", "event 2 changed nothing\n")


@pytest.mark.parametrize("stream", ["weather", "thinking", "agent", "weather-agent"])
def test_patches_of_all_events_give_the_last_state(recorded: Rec, stream: str) -> None:
    state = recorded("replay", stream, "--at", "0", "--json").fine().json
    for n in range(1, state["of"] + 1):
        state = jsonpatch.apply_patch(state, recorded("diff", f"{stream}@{n}", "--patch").fine().json)
    assert state == recorded("replay", stream, "--json").fine().json


def test_two_states_that_differ(recorded: Rec) -> None:
    done = recorded("diff", "weather@8", "weather@9", "--patch")
    assert done.code == 1
    one, other = (recorded("replay", f"weather@{n}", "--json").json for n in (8, 9))
    assert jsonpatch.apply_patch(one, done.json) == other | {"at": 8}
    assert recorded("diff", "weather@8", "weather@9", "--json").stdout == done.stdout
    human = recorded("diff", "weather@2", "weather@3")
    assert human.code == 1
    assert 'replace  /messages/0/text  "Let me look that up."\n' in human.out


def test_two_states_that_are_the_same(recorded: Rec, rec: Rec) -> None:
    assert recorded("diff", "weather@9", "weather@9").fine().out == ""
    assert recorded("diff", "weather", "weather@end").fine().out == ""
    rec("capture", CASSETTES / "weather.sse").fine()
    rec("capture", "--name", "again", CASSETTES / "weather.sse").fine()
    assert rec("diff", "weather", "again").fine().out == ""


def test_two_runs_differ_in_what_they_did_and_not_in_their_ids(rec: Rec) -> None:
    first = (CASSETTES / "weather.sse").read_bytes()
    second = first.replace(b"call_rec0001", b"call_other01").replace(b"chatcmpl-rec0001", b"chatcmpl-other1")
    third = second.replace(b"get_weather", b"get_forecast")
    for name, data in (("monday", first), ("tuesday", b": a keep-alive\n\n" + second), ("wednesday", third)):
        path = rec.database.parent / f"{name}.sse"
        path.write_bytes(data)
        rec("capture", path).fine()
    assert rec("diff", "monday", "tuesday").fine().out == ""
    done = rec("diff", "monday", "wednesday")
    assert done.code == 1
    assert {line.split()[1] for line in done.out.splitlines()} == {
        "/messages/0/calls/0/name",
        "/pairings/0/name",
    }


def test_what_cannot_be_compared_is_one_line(recorded: Rec) -> None:
    assert "name an event (weather@N), or a second state" in recorded("diff", "weather").refusal
    assert "there is no event 0" in recorded("diff", "weather@0").refusal
    assert "there is no event 21" in recorded("diff", "weather@21").refusal
    assert "there is no state at 21" in recorded("diff", "weather@21", "weather@1").refusal
    assert "there is no stream 'nobody'" in recorded("diff", "weather@1", "nobody").refusal
    assert "exclude each other" in recorded("diff", "weather@1", "--patch", "--json").refusal
    assert "there is no such reading" in recorded("diff", "weather@1", "--gather", "x").refusal
