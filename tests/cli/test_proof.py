"""`rec verify`, `rec seal` and `rec erase`: what they say, and with which exit code."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from tests.capture.made import chunk, sse
from tests.command import CASSETTES, SECONDS, Done, Rec, command, environment

WEATHER = CASSETTES / "weather.sse"
AGENT = CASSETTES / "agent.jsonl"


@pytest.fixture
def filled(rec: Rec) -> Rec:
    rec("capture", WEATHER, AGENT).fine()
    return rec


def tampered(rec: Rec, *statements: str) -> Rec:
    """The database as somebody with another tool changes it."""
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
    return rec


def keys(rec: Rec, name: str = "key") -> tuple[Path, Path]:
    """Files of a private and a public key."""
    key = ed25519.Ed25519PrivateKey.generate()
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return rec.file(f"{name}.pem", private), rec.file(f"{name}.pub", public)


# verify


def test_a_whole_log_is_said_to_be_whole(filled: Rec) -> None:
    for more in ([], ["--projections"]):
        done = filled("verify", *more).fine()
        assert (done.out, done.err) == ("weather: whole, 20 events\nagent: whole, 59 events\n", "")
    assert filled("verify", "weather").fine().out == "weather: whole, 20 events\n"
    assert filled("verify", "latest", "weather").fine().out == "agent: whole, 59 events\nweather: whole, 20 events\n"


def test_a_verdict_is_json_too(filled: Rec) -> None:
    filled("erase", "weather", "--events", "2-4", "--reason", "why", "--yes").fine()
    assert filled("verify", "--json").fine().json == [
        {"stream": "weather", "events": 20, "erased": 3, "seq": None, "problem": None},
        {"stream": "agent", "events": 59, "erased": 0, "seq": None, "problem": None},
    ]
    assert filled("verify", "weather").fine().out == "weather: whole, 20 events, 3 of them erased\n"


def test_what_is_wrong_is_named_and_the_exit_code_says_so(filled: Rec) -> None:
    tampered(filled, "UPDATE log_events SET body = x'00' WHERE stream_id = 2 AND seq = 7")
    done = filled("verify")
    assert (done.code, done.err) == (1, "")
    assert done.out == "weather: whole, 20 events\nagent: event 7: its content is not what its hash was made of\n"
    done = filled("verify", "--json")
    assert (done.code, done.json[1]) == (
        1,
        {
            "stream": "agent",
            "events": 6,
            "erased": 0,
            "seq": 7,
            "problem": "its content is not what its hash was made of",
        },
    )
    assert filled("verify", "weather").code == 0
    assert filled("verify", "agent", "weather").code == 1


def test_what_is_wrong_with_the_read_model_shows_where_it_is_asked_for(filled: Rec) -> None:
    tampered(filled, "UPDATE rm_tool_calls SET args = '{}' WHERE stream_id = 1")
    assert filled("verify").code == 0
    done = filled("verify", "--projections")
    assert done.code == 1
    assert done.out.startswith("weather: event ")
    assert "than its events give, in rm_tool_calls (call_ref " in done.out
    filled("rebuild", "weather").fine()
    assert filled("verify", "--projections").code == 0


def test_events_of_a_stream_that_is_gone_are_of_the_database(filled: Rec) -> None:
    tampered(filled, "DELETE FROM log_streams WHERE name = 'weather'")
    done = filled("verify")
    assert done.code == 1
    assert done.out == (
        "agent: whole, 59 events\nthe database: there are events or appends of a stream that is gone, with the key 1\n"
    )
    assert filled("verify", "agent").code == 0


def test_a_log_without_streams_is_whole(rec: Rec) -> None:
    rec("db", "upgrade").fine()
    done = rec("verify", "--projections").fine()
    assert (done.out, done.err) == ("", "there is no stream in the database\n")
    assert rec("verify", "--json").fine().json == []


def test_what_cannot_be_verified_is_an_error(rec: Rec, filled: Rec) -> None:
    assert "there is no stream 'nobody'" in filled("verify", "nobody").refusal
    assert filled("verify", "--public-key", "x").refusal == "--public-key is for a seal: give --seal FILE too"
    assert filled("verify", "--seal", "/nowhere/x").refusal == "/nowhere/x cannot be read: no such file or directory"


# seal


def test_a_seal_goes_to_a_file_or_to_the_output(filled: Rec, tmp_path: Path) -> None:
    file = tmp_path / "monday.seal"
    done = filled("seal", file).fine()
    made = json.loads(file.read_bytes())
    assert (done.out, done.err) == ("", f"{file}: sealed 2 streams, digest {made['digest']}\n")
    printed = filled("seal").fine()
    assert printed.err == ""
    assert printed.json["streams"] == made["streams"]
    done = filled("verify", "--seal", file).fine()
    assert done.out == "weather: whole, 20 events\nagent: whole, 59 events\n"
    assert done.err == f"the seal of {made['made_at']} has 2 streams, and is not signed\n"


def test_a_seal_finds_what_a_chain_cannot(filled: Rec, tmp_path: Path) -> None:
    file = tmp_path / "x.seal"
    filled("seal", file).fine()
    tampered(
        filled,
        "DELETE FROM log_events WHERE stream_id = 1",
        "DELETE FROM log_appends WHERE stream_id = 1",
        "DELETE FROM log_streams WHERE stream_id = 1",
    )
    assert filled("verify").code == 0
    done = filled("verify", "--seal", file)
    assert done.code == 1
    assert done.out == "agent: whole, 59 events\nweather: against the seal: the stream is gone\n"
    assert filled("verify", "--seal", file, "--json").json[-1] == {
        "stream": "weather",
        "events": None,
        "erased": None,
        "seq": None,
        "problem": "against the seal: the stream is gone",
    }


def test_a_sealed_event_that_is_gone_hides_no_verdict(filled: Rec, tmp_path: Path) -> None:
    file = tmp_path / "x.seal"
    filled("seal", file).fine()
    tampered(filled, "DELETE FROM log_events WHERE stream_id = 1 AND seq = 20")
    done = filled("verify", "--seal", file)
    assert done.code == 1
    assert done.out.splitlines() == [
        "weather: event 20: stream 'weather' lacks event 20: run rec db check",
        "agent: whole, 59 events",
        "weather: event 20: against the seal: event 20, which was sealed, is not there, or cannot be read",
    ]


def test_a_name_that_was_given_since_the_seal_is_told(filled: Rec, tmp_path: Path) -> None:
    file = tmp_path / "x.seal"
    filled("seal", file).fine()
    filled("rename", "weather", "sunny").fine()
    done = filled("verify", "--seal", file).fine()
    assert done.err.splitlines()[0] == "sunny: was sealed under the name 'weather'"


def test_a_seal_that_is_there_is_never_overwritten(filled: Rec, tmp_path: Path) -> None:
    file = tmp_path / "x.seal"
    filled("seal", file).fine()
    before = file.read_bytes()
    assert filled("seal", file).refusal == f"{file} exists already: name a new file"
    assert file.read_bytes() == before


def test_a_signed_seal_says_who_signed_it(filled: Rec, tmp_path: Path) -> None:
    private, public = keys(filled)
    file = tmp_path / "x.seal"
    filled("seal", "--key", private, file).fine()
    made = json.loads(file.read_bytes())
    said = f"the seal of {made['made_at']} has 2 streams\n"
    assert filled("verify", "--seal", file, "--public-key", public).fine().err == said
    key = made["signature"]["public_key"]
    hint = f"{file}: signed by {key}; --public-key says whose key that must be\n"
    assert filled("verify", "--seal", file).fine().err == hint + said
    _, other = keys(filled, "other")
    told = filled("verify", "--seal", file, "--public-key", other).refusal
    assert told == f"{file}: the seal was signed by another key: {key}"
    file.write_text(file.read_text().replace('"last_seq": 59', '"last_seq": 58'))
    told = filled("verify", "--seal", file).refusal
    assert told == f"{file}: the seal was changed after it was made: its digest is not that of its streams"


def test_an_unsigned_seal_is_not_what_a_key_was_asked_for(filled: Rec, tmp_path: Path) -> None:
    _, public = keys(filled)
    file = tmp_path / "x.seal"
    filled("seal", file).fine()
    assert filled("verify", "--seal", file, "--public-key", public).refusal == f"{file}: the seal is not signed"


def test_what_cannot_be_sealed_is_an_error(filled: Rec, tmp_path: Path) -> None:
    assert filled("seal", "--key", "/nowhere/k").refusal == "/nowhere/k cannot be read: no such file or directory"
    assert "the key is no private key in PEM" in filled("seal", "--key", WEATHER).refusal
    assert filled("seal", "/nowhere/x").refusal == "/nowhere/x cannot be written: no such file or directory"
    assert filled("verify", "--seal", WEATHER).refusal.startswith(f"{WEATHER}: it is no seal: ")


def test_a_program_without_the_package_says_what_it_needs(filled: Rec, tmp_path: Path) -> None:
    private, _ = keys(filled)
    blocker = "import sys; sys.modules['cryptography'] = None; from recorder.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", blocker, "seal", "--key", str(private), "-d", str(filled.database)],
        capture_output=True,
        env=environment(),
    )
    told = Done(done.returncode, done.stdout, done.stderr).refusal
    assert told == "signatures need the package cryptography: pip install 'agent-stream-recorder[sign]'"


# erase


def test_events_are_erased_and_the_line_says_which(filled: Rec) -> None:
    done = filled("erase", "weather", "--events", "12-14", "--reason", "a customer's address", "--yes").fine()
    assert (done.out, done.err) == ("", "weather: erased events 12 to 14\n")
    for events, said in (("3", "3 to 3"), ("18-", "18 to 20"), ("-2", "1 to 2"), ("end", "20 to 20")):
        done = filled("erase", "weather", "--events", events, "--reason", "why", "--yes").fine()
        assert done.err == f"weather: erased events {said}\n"
    assert filled.rows("SELECT erasure, first_seq, last_seq, reason FROM erasures ORDER BY erasure") == [
        [1, 12, 14, "a customer's address"],
        [2, 3, 3, "why"],
        [3, 18, 20, "why"],
        [4, 1, 2, "why"],
        [5, 20, 20, "why"],
    ]
    assert filled("verify", "--projections").code == 0
    # `latest` is what was appended to last, and a call's id names its events.
    call = filled.rows(
        "SELECT call_id, first_seq, last_seq FROM tool_calls WHERE stream = 'agent' AND source = 'stream'"
    )
    done = filled("erase", "latest", "--events", call[0][0], "--reason", "why", "--yes").fine()
    assert done.err == f"agent: erased events {call[0][1]} to {call[0][2]}\n"


def test_a_stream_is_given_up(filled: Rec) -> None:
    done = filled("erase", "--all", "weather", "--reason", "the wrong dialect", "--yes").fine()
    (name,) = (row["stream"] for row in filled("ls", "--json").fine().json if row["stream"] != "agent")
    assert done.err == f"weather: erased events 1 to 20; it is now {name}\n"
    assert name.startswith("weather~erased-")
    assert filled("capture", WEATHER).fine().err == "weather: stored 20 events\n"
    assert filled("replay", "weather", "--emit", "raw").fine().stdout == WEATHER.read_bytes()
    assert filled("verify", "--projections").code == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--reason", "x"], "give --events A-B, or --all"),
        (["--reason", "x", "--all", "--events", "1"], "give --events A-B, or --all"),
        (["--reason", "", "--all"], "--reason is empty: say why"),
        (["--reason", " \t", "--all"], "--reason is empty: say why"),
        (["--all"], "Missing option '--reason' (see rec erase --help)"),
        (["--reason", "x", "--events", "0"], "--events 0: stream 'weather' has events 1 to 20"),
        (["--reason", "x", "--events", "19-21"], "--events 19-21: stream 'weather' has events 1 to 20"),
        (["--reason", "x", "--events", "21"], "--events 21: stream 'weather' has events 1 to 20"),
        (["--reason", "x", "--events", "5-4"], "weather@5-4: the range runs backwards, from event 5 to event 4"),
        (
            ["--reason", "x", "--events", "nothing"],
            "weather@nothing: give an event number, a range A-B, end, first-error or a call's id",
        ),
        (
            ["--reason", "x", "--events", ""],
            "weather@: give an event number, a range A-B, end, first-error or a call's id",
        ),
    ],
)
def test_what_cannot_be_erased_is_refused(filled: Rec, arguments: list[str], told: str) -> None:
    assert filled("erase", "weather", "--yes", *arguments).refusal == told
    assert filled.rows("SELECT count(*) FROM erasures") == [[0]]


def test_another_stream_whose_name_looks_like_a_range_of_this_one_is_left_alone(filled: Rec) -> None:
    filled("capture", WEATHER, "--name", "weather@2-3").fine()
    assert filled("erase", "weather", "--events", "2-3", "--reason", "x", "--yes").fine().err == (
        "weather: erased events 2 to 3\n"
    )
    assert filled.rows("SELECT DISTINCT stream FROM erasures") == [["weather"]]


def test_a_stream_that_there_is_not_is_not_erased(filled: Rec) -> None:
    assert "there is no stream 'nobody'" in filled("erase", "nobody", "--all", "--reason", "x", "--yes").refusal
    missing = Rec(filled.database.parent / "nowhere.db")
    assert "does not exist" in missing("erase", "x", "--all", "--reason", "x", "--yes").refusal
    assert not missing.database.exists()


def test_without_a_terminal_nobody_can_be_asked(filled: Rec) -> None:
    told = filled("erase", "weather", "--events", "2-3", "--reason", "x").refusal
    assert told == "this blanks events 2 to 3 of 'weather' for good: add --yes"
    assert filled.rows("SELECT count(*) FROM erasures") == [[0]]


def _answered(rec: Rec, typed: bytes) -> Done:
    """What the command does where somebody at a terminal answers."""
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command("erase", "weather", "--events", "2-3", "--reason", "x", "-d", rec.database),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
        # Its own terminal, which sends it the signals of keys.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    asked = b""
    while b"[y/N] " not in asked:
        asked += os.read(process.stderr.fileno(), 1000)
    os.write(ours, typed)
    out, err = process.communicate(timeout=SECONDS)
    os.close(ours)
    err = asked + err
    return Done(process.returncode, out, err)


@pytest.mark.parametrize(
    ("typed", "code", "erased"),
    [
        (b"y\n", 0, 1),
        (b"yes\n", 0, 1),
        (b"n\n", 2, 0),
        (b"\n", 2, 0),
        (b"what?\n", 2, 0),
        (b"\x04", 2, 0),
        (b"\x03", 130, 0),
    ],
    ids=["y", "yes", "n", "nothing", "what?", "end of input", "Ctrl-C"],
)
def test_at_a_terminal_it_asks(filled: Rec, typed: bytes, code: int, erased: int) -> None:
    done = _answered(filled, typed)
    assert (done.code, done.out) == (code, ""), done.err
    assert "Blank events 2 to 3 of 'weather' for good? [y/N]" in done.err
    assert ("weather: erased events 2 to 3\n" in done.err) == bool(erased)
    assert ("nothing was erased\n" in done.err) == (code == 2)
    assert filled.rows("SELECT count(*) FROM erasures") == [[erased]]


def test_a_recording_of_which_something_was_erased_is_refused_with_what_to_do(filled: Rec) -> None:
    filled("erase", "weather", "--events", "2", "--reason", "x", "--yes").fine()
    assert filled("capture", WEATHER).refusal == (
        f"{WEATHER}: of the stream 'weather' something was erased, so that it cannot be compared with this recording;"
        " capture it under another name with --name, or give the stream's up with rec erase --all"
    )
    filled("capture", WEATHER, "--name", "anew").fine()
    filled("erase", "--all", "weather", "--reason", "x", "--yes").fine()
    assert filled("capture", WEATHER).fine().err == "weather: stored 20 events\n"


def test_a_reader_that_keeps_old_bytes_is_told_of(filled: Rec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.store.sqlite.backend.SCRUB_SECONDS", 0.05)
    with closing(sqlite3.connect(filled.database, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM log_events").fetchone()
        done = filled("erase", "weather", "--events", "2", "--reason", "x", "--yes").fine()
    assert done.err == (
        "weather: erased events 2 to 2\n"
        f"weather: another program reads {filled.database}: it and its -wal keep the old bytes until nobody has it"
        " open\n"
    )


# What is given out of it afterwards


def test_erased_events_show_as_such(filled: Rec) -> None:
    filled("erase", "weather", "--events", "2-3", "--reason", "x", "--yes").fine()
    rows = filled("show", "weather@1-4", "--json").fine().json
    assert [(row["bytes"] == 0, row["text"] is None) for row in rows] == [
        (False, False),
        (True, True),
        (True, True),
        (False, False),
    ]
    lines = filled("show", "weather@1-4").fine().out.splitlines()[-4:]
    assert ["(erased)" in line for line in lines] == [False, True, True, False]


@pytest.mark.parametrize("form", ["raw", "sse", "jsonl", "changes", "patch", "values"])
def test_what_is_given_out_again_says_what_is_not_in_it(rec: Rec, form: str) -> None:
    frames = [chunk(id="c", name="add", args=""), *(chunk(args=f'{{"k": "needle-{n}"') for n in range(2, 9))]
    path = rec.file("x.sse", sse(*frames))
    rec("capture", path).fine()
    assert rec("replay", "x", "--emit", form).fine().err == ""
    rec("erase", "x", "--events", "2-4", "--reason", "y", "--yes").fine()
    rec("erase", "x", "--events", "6", "--reason", "y", "--yes").fine()
    done = rec("replay", "x", "--emit", form).fine()
    assert done.err == "x: nothing is given out of 4 events that were erased: 2-4, 6\n"
    assert rec("replay", "x@3-6", "--emit", form).fine().err == (
        "x: nothing is given out of 3 events that were erased: 3-4, 6\n"
    )
    assert rec("replay", "x@6", "--emit", form).fine().err == (
        "x: nothing is given out of 1 event that was erased: 6\n"
    )
    assert rec("replay", "x@7-", "--emit", form).fine().err == ""
    gone, left = (2, 3, 4, 6), (5, 7, 8)
    assert [n for n in gone if b"needle-%d" % n in done.stdout] == []
    if form in ("raw", "sse"):
        assert done.stdout == sse(*(frames[n - 1] for n in (1, *left)))
    elif form == "jsonl":
        assert done.stdout == b"".join(frames[n - 1].encode() + b"\n" for n in (1, *left))
    elif form == "changes":
        assert [json.loads(line)["seq"] for line in done.out.splitlines()] == list(range(1, 9))


def test_many_ranges_are_not_all_named(rec: Rec) -> None:
    path = rec.file("x.sse", sse(*(chunk(content=str(n)) for n in range(1, 31))))
    rec("capture", path).fine()
    for n in range(1, 30, 2):
        rec("erase", "x", "--events", str(n), "--reason", "y", "--yes").fine()
    assert rec("replay", "x", "--emit", "raw").fine().err == (
        "x: nothing is given out of 15 events that were erased: 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …\n"
    )
