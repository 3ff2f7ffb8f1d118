"""`rec capture FILE…`: what it says, what it refuses, and that a refusal keeps nothing else out."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.dialects import DIALECTS
from tests.capture.made import CALL, chunk, ndjson, sse
from tests.command import CASSETTES, Rec, on_terminal
from tests.command import rec as run

WEATHER = CASSETTES / "weather.sse"


def streams(rec: Rec) -> dict[str, int]:
    return {row["stream"]: row["events"] for row in rec("ls", "--json").fine().json}


def test_streams_are_named_after_their_files(rec: Rec) -> None:
    done = rec("capture", WEATHER, CASSETTES / "agent.jsonl", CASSETTES / "weather-agent.yaml").fine()
    assert done.err == ("weather: stored 20 events\nagent: stored 59 events\nweather-agent: stored 21 events\n")
    assert streams(rec) == {"weather": 20, "agent": 59, "weather-agent": 21}


def test_a_name_can_be_given(rec: Rec) -> None:
    assert rec("capture", WEATHER, "--name", "w").fine().err == "w: stored 20 events\n"
    assert streams(rec) == {"w": 20}


def test_the_same_file_again_is_said_to_be_known(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    assert rec("capture", WEATHER).fine().err == "weather: known already, 20 events; nothing stored\n"
    assert streams(rec) == {"weather": 20}


def test_a_longer_file_is_said_to_have_grown(rec: Rec) -> None:
    whole = WEATHER.read_bytes()
    path = rec.file("w.sse", b"".join(block + b"\n\n" for block in whole.split(b"\n\n")[:7]))
    rec("capture", path).fine()
    rec.file("w.sse", whole)
    assert rec("capture", path).fine().err == "w: stored 13 more, 20 events in all\n"
    assert rec("replay", "w", "--emit", "sse").fine().stdout == whole


@pytest.mark.parametrize("content", [b"", WEATHER.read_bytes()[:1000], sse(*CALL)])
def test_another_recording_under_the_name_is_refused_with_a_hint(rec: Rec, content: bytes) -> None:
    rec("capture", WEATHER).fine()
    path = rec.file("weather.sse", content)
    told = rec("capture", path).refusal
    assert "--name" in told if content else "empty file" in told
    assert streams(rec) == {"weather": 20}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty file"),
        (b"  \n\n", "a file of white space only"),
        (bytes(range(256)) * 20, "binary data (starts with 00 01 02 03)"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "binary data (starts with 89 50 4E 47)"),
        (
            b"Dear Sir or Madam,\n\nplease find\n",
            "text that is no SSE, JSON lines, cassette or HAR (starts with 'Dear Sir",
        ),
        (b"a,b\n1,2\n", "text that is no SSE"),
        (b"\x1f\x8bnothing", "damaged gzip data"),
        (b'{"a": [1, 2', "JSON that breaks off"),
    ],
)
def test_a_file_in_which_there_is_no_frame_is_refused(rec: Rec, content: bytes, told: str) -> None:
    path = rec.file("x.bin", content)
    refusal = rec("capture", path).refusal
    assert refusal.startswith(f"{path}: ")
    assert told in refusal
    assert refusal.endswith("nothing was stored (rec capture --help says what can be)")
    assert streams(rec) == {}


def test_what_is_no_file_is_refused(rec: Rec, tmp_path: Path) -> None:
    assert rec("capture", tmp_path).refusal == f"{tmp_path}: is a folder; name the recordings in it"
    missing = tmp_path / "none.sse"
    assert rec("capture", missing).refusal == f"{missing}: no such file or directory; nothing was stored"
    assert rec("capture", "").refusal.endswith("is a folder; name the recordings in it")
    assert "null" in rec("capture", "a\0b").refusal
    under = WEATHER / "x.sse"
    assert rec("capture", under).refusal == f"{under}: not a directory; nothing was stored"


def test_a_process_of_its_own_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear Sir\n")
    told = run("capture", "letter.txt", "-d", "x.db", folder=tmp_path).refusal
    assert told.startswith("letter.txt: text that is no SSE, JSON lines, cassette or HAR")


def test_fine_files_go_in_beside_a_refused_one(rec: Rec) -> None:
    letter = rec.file("letter.txt", b"Dear Sir\n")
    done = rec("capture", WEATHER, letter, "none.sse", CASSETTES / "thinking.sse")
    assert done.code == 2
    assert done.err.splitlines()[0] == "weather: stored 20 events"
    assert done.err.splitlines()[-1] == "thinking: stored 26 events"
    assert [line for line in done.err.splitlines() if line.startswith("rec: ")] == done.err.splitlines()[1:3]
    assert streams(rec) == {"weather": 20, "thinking": 26}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--dialect", "x", str(WEATHER)], "--dialect x: give one of anthropic.messages, bedrock.converse, "),
        (["--name", "x", str(WEATHER), str(WEATHER)], "--name goes with one recording"),
        (["--name", " ", str(WEATHER)], "a stream's name cannot be empty"),
        (["--name", "latest", str(WEATHER)], "'latest' cannot be a stream's name"),
        (["--tee", str(WEATHER)], "--tee passes standard input on: give it with - alone"),
        (["--tee", "-", str(WEATHER)], "--tee passes standard input on: give it with - alone"),
        (["-", "-"], "- is standard input: give it once"),
    ],
)
def test_options_that_do_not_fit_are_refused(rec: Rec, arguments: list[str], told: str) -> None:
    assert told in rec("capture", *arguments).refusal
    assert not rec.database.exists() or streams(rec) == {}


def test_help_names_every_dialect(rec: Rec) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "200")
        done = run("capture", "--help").fine()
    listed = ", ".join(sorted(DIALECTS)[:-1]) + f" or {sorted(DIALECTS)[-1]}"
    assert listed in " ".join(done.out.split())


def test_a_url_is_refused_with_the_way_to_record_it(rec: Rec) -> None:
    told = rec("capture", "http://localhost:1/v1?a=b&c=d").refusal
    assert told.endswith("curl -N 'http://localhost:1/v1?a=b&c=d' | rec capture - records what it streams")


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("x.json", b'[{"a": 1}, {"b": 2}]', "a JSON array must be one object a line"),
        ("x.json", b'[\n {"a": 1},\n {"b": 2}\n]', "a JSON array must be one object a line"),
        ("x.sse", sse("{'a': 1}", "{'b': 2}"), "Python dicts are no JSON: write each event by json.dumps"),
        ("x.sse", sse(*CALL).replace(b"\n\n", b"\n"), "SSE frames end with a blank line"),
        ("x.sse", sse(*CALL).replace(b"\n\n", b"\n") + b"\n", "SSE frames end with a blank line"),
        ("x.sse", b'data: {"object":"chat.comp', "it breaks off within its first frame"),
        ("x.jsonl", b'{"a": 1}\n{"b": 2}\n', "it is JSON, in no dialect that rec knows"),
        ("x.sse", sse("a", "b"), "its frames are no JSON"),
    ],
)
def test_a_recording_in_which_nothing_is_recognised_gets_a_hint(rec: Rec, file: str, content: bytes, told: str) -> None:
    lines = rec("capture", rec.file(file, content)).fine().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("x: stored ")
    assert lines[1].startswith(f"x: nothing in it was recognised: {told}")


def test_a_dialect_that_was_given_and_is_not_the_frames_own_gets_a_hint(rec: Rec) -> None:
    """The same bytes under the same name are known from then on: it takes another name to have them read again."""
    done = rec("capture", "--dialect", "gemini", WEATHER).fine()
    told = "its frames are not in gemini; capture it again without --dialect, under another --name"
    assert done.err.endswith(f"weather: nothing in it was recognised: {told}\n")
    assert "known already" in rec("capture", WEATHER).fine().err
    assert rec("capture", "--name", "again", WEATHER).fine().err == "again: stored 20 events\n"


def test_a_recording_in_which_something_is_recognised_gets_none(rec: Rec) -> None:
    done = rec("capture", rec.file("x.sse", sse("no JSON", *CALL, "no JSON"))).fine()
    assert done.err.count("\n") == 1
    assert "not-json" in done.err


def test_lines_of_python_are_refused_with_a_hint(rec: Rec) -> None:
    told = rec("capture", rec.file("x.jsonl", b"{'a': 1}\n{'b': 2}\n")).refusal
    assert told.endswith("nothing was stored (Python dicts are no JSON: write each event by json.dumps)")


def test_a_dialect_can_be_given(rec: Rec) -> None:
    rec("capture", "--dialect", "unknown", WEATHER).fine()
    assert rec.rows("SELECT DISTINCT dialect FROM events") == [["unknown"]]


def test_progress_is_for_a_terminal_only(tmp_path: Path) -> None:
    """Long enough that its line is due: it is first shown after a tenth of a second."""
    path = tmp_path / "x.ndjson"
    path.write_bytes(b"".join(ndjson(chunk(content=str(n))) for n in range(20_000)))
    shown = on_terminal("capture", path, "-d", tmp_path / "a.db", stream="stderr")
    assert " events, " in shown
    assert f"\r{path}: " in shown
    assert shown.rpartition("\r")[2] == "x: stored 20000 events\n", "the line is gone at the end"
    done = run("capture", path, "-d", tmp_path / "b.db").fine()
    assert done.err == "x: stored 20000 events\n"
