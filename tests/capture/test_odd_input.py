"""Odd recordings are stored whole, with a finding where something is wrong; never half, never an exception."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.capture.made import CALL, chunk, ndjson, sse
from tests.command import SECONDS, Rec, environment

HALF = b'{"object":"chat.completion.chunk","choi'
SURROGATE = (
    chunk(id="c\ud83d", name="f\ud83d", args=""),
    chunk(args='{"x": "\ud83d", "y": "\\ud83d"}'),
    chunk(content="t\ud83d"),
    chunk(finish="tool_calls"),
)
"""`json.dumps` writes each lone surrogate as its escape, as the wire has them."""
NUMBERS = b'{"object":"chat.completion.chunk","created":%s,"choices":[],"usage":{"prompt_tokens":%s}}'
AT = chunk(content="@").encode()
FOREIGN = b'event: delta\ndata: {"v": 1}\n\nevent: fin\ndata: {"v": 2}\n\n'

ODD = {
    "half.sse": (sse(*CALL) + b"data: " + HALF, [("partial-frame", 5)]),
    "half.ndjson": (ndjson(*CALL) + HALF, [("partial-frame", 5)]),
    "bad-line.sse": (sse(*CALL[:2], "{nonsense", *CALL[2:]), [("not-json", 3)]),
    "bad-line.ndjson": (ndjson(*CALL[:2], "{nonsense", *CALL[2:]), [("not-json", 3)]),
    "bad-utf8.sse": (sse(*CALL[:2], AT.replace(b"@", b"\xff\xfe"), *CALL[2:]), [("invalid-utf8", 3)]),
    "bad-utf8.ndjson": (ndjson(*CALL[:2], AT.replace(b"@", b"\xe2\x82"), *CALL[2:]), [("invalid-utf8", 3)]),
    "foreign.sse": (FOREIGN, [("unknown-frame", 1), ("unknown-frame", 2)]),
    "foreign.ndjson": (ndjson('{"v": 1}', '{"v": 2}'), [("unknown-frame", 1), ("unknown-frame", 2)]),
    "surrogates.sse": (sse(*SURROGATE), [("lone-surrogate", n) for n in (1, 2, 3)]),
    "surrogates.ndjson": (ndjson(*SURROGATE), [("lone-surrogate", n) for n in (1, 2, 3)]),
    "nan.sse": (sse(*CALL, NUMBERS % (b"NaN", b"-Infinity")), [("non-finite-number", 5)]),
    "huge.sse": (sse(*CALL, NUMBERS % (b"9" * 400, b"9" * 40)), []),
    "comments.sse": (b": one\n\n" + sse(CALL[0]) + b": two\n: three\n\n" + sse(*CALL[1:]), []),
    "crlf.sse": (sse(*CALL).replace(b"\n", b"\r\n"), []),
    "bom.sse": (b"\xef\xbb\xbf" + sse(*CALL), []),
    "multi-line.sse": (b'data: {"object":"chat.completion.chunk",\ndata: "choices":[]}\n\n' + sse(*CALL), []),
    "empty-lines.ndjson": (b"\n\n" + ndjson(CALL[0], "", *CALL[1:]) + b"\n", []),
    "nul.sse": (sse(chunk(content="a\0b"), b"a\0b"), [("not-json", 2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_input_is_stored_whole_and_found(rec: Rec, name: str) -> None:
    content, findings = ODD[name]
    path = rec.file(name, content)
    stream, _, form = name.rpartition(".")
    rec("capture", path).fine()
    assert rec("replay", stream, "--emit", "sse" if form == "sse" else "jsonl").fine().stdout == content
    found = rec.rows("SELECT rule, seq FROM findings ORDER BY seq")
    assert [(rule, seq) for rule, seq in found] == findings
    for view in (
        ["replay"],
        ["show"],
        ["ls"],
        ["replay", "--json"],
        ["replay", "--emit", "changes"],
        ["diff", f"{stream}@1"],
    ):
        assert rec(*view).fine().err == "" or view[0] == "diff"


@pytest.mark.parametrize("name", [name for name in ODD if not name.startswith(("foreign", "surrogates", "nul"))])
def test_what_is_odd_does_not_touch_the_calls_around_it(rec: Rec, name: str) -> None:
    rec("capture", rec.file(name, ODD[name][0])).fine()
    assert rec.rows("SELECT call_id, name, args, args_state FROM tool_calls") == [["c1", "add", '{"a": 1}', "complete"]]


def test_findings_are_told_when_they_are_stored(rec: Rec) -> None:
    content = ODD["half.sse"][0]
    path = rec.file("x.sse", content)
    assert rec("capture", path).fine().err == "x: stored 5 events (findings: 1 partial-frame)\n"
    assert rec("capture", path).fine().err == "x: known already, 5 events; nothing stored\n"
    rec.file("x.sse", content + b'ces":[]}\n\n' + sse("[DONE]"))
    assert rec("capture", path).fine().err == "x: stored 2 more, 7 events in all\n", "only what is new is told"
    told = rec("capture", rec.file("f.sse", FOREIGN)).fine().err
    assert told.startswith("f: stored 2 events (findings: 2 unknown-frame)\n")


def test_a_foreign_stream_says_its_dialect_is_unknown(rec: Rec) -> None:
    rec("capture", rec.file("f.sse", FOREIGN)).fine()
    assert rec.rows("SELECT dialect, kind FROM events ORDER BY seq") == [["unknown", "delta"], ["unknown", "fin"]]


def test_lone_surrogates_survive_in_every_place(rec: Rec) -> None:
    rec("capture", rec.file("s.sse", sse(*SURROGATE))).fine()
    message: Any = rec("replay", "s", "--json").fine().json["messages"][0]
    (call,) = message["calls"]
    assert (call["id"], call["name"], message["text"]) == ("c\ud83d", "f\ud83d", "t\ud83d")
    assert call["raw"] == '{"x": "\ud83d", "y": "\\ud83d"}'
    assert call["value"] == {"x": "\ud83d", "y": "\ud83d"}
    assert rec("rebuild").fine().code == 0
    assert rec.rows("SELECT call_id, name FROM tool_calls") == [["c\\ud83d", "f\\ud83d"]]


def test_a_file_name_that_is_no_utf8_names_a_stream(rec: Rec) -> None:
    if sys.platform != "linux":
        pytest.skip("file names are text there")
    path = rec.file("n\udcff.sse", sse(*CALL))
    done = rec("capture", path).fine()
    assert done.err == "n\\udcff: stored 4 events\n"
    assert rec("capture", path).fine().err.startswith("n\\udcff: known already")
    assert rec("replay", "n\\udcff", "--json").fine().json["of"] == 4


def test_numbers_that_json_has_no_spelling_for_are_tagged_in_output(rec: Rec) -> None:
    args = '{"n": NaN, "i": 1e999, "z": %s}' % ("9" * 30)
    rec("capture", rec.file("n.sse", sse(chunk(id="c", name="f", args=args), CALL[-1]))).fine()
    text = rec("replay", "n", "--json").fine().out
    (call,) = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))["messages"][0]["calls"]
    assert call["value"] == {"n": {"$number": "NaN"}, "i": {"$number": "Infinity"}, "z": int("9" * 30)}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["sse", "ndjson"])
def test_a_line_of_fifty_megabytes(rec: Rec, form: str) -> None:
    long = chunk(id="c1", name="add", args=json.dumps({"x": "y" * 50_000_000}))
    content = (sse if form == "sse" else ndjson)(long, chunk(finish="tool_calls"))
    rec("capture", rec.file(f"long.{form}", content)).fine()
    assert rec("replay", "long", "--emit", "sse" if form == "sse" else "jsonl").fine().stdout == content
    assert rec.rows("SELECT length(args), args_state FROM tool_calls") == [[50_000_009, "complete"]]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells what a process itself has used, on Linux")
def test_a_file_larger_than_memory_is_captured_and_emitted_in_little(tmp_path: Path) -> None:
    """300 MB of events with less than 200 MB for the whole process, Python and its libraries included."""
    path, database = tmp_path / "x.ndjson", tmp_path / "x.db"
    with open(path, "wb") as file:
        for number in range(5000):
            file.write(ndjson(json.dumps({"number": number, "filling": "x" * 60_000})))
    script = (
        "import sys; from recorder.cli.app import main; code = main(sys.argv[1:]);"
        "peak = [line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')];"
        "print(*peak, file=sys.stderr); sys.exit(code)"
    )
    for arguments in (["capture", str(path)], ["replay", "x", "--emit", "jsonl"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments, "-d", str(database)],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stderr.split()[-1]) < 200_000, f"{arguments[0]} took so many KB"
