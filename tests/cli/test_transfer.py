"""`rec export`, `rec copy` and `rec tail`, and `rec capture` of what was exported."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recorder.ledger import Ledger
from recorder.store import migrate, open_store
from tests.capture.made import CALL, sse
from tests.command import CASSETTES, SECONDS, Done, Rec, command, environment, here
from tests.command import rec as command_rec
from tests.store.made import append, event, events

WEATHER = CASSETTES / "weather.sse"
AGENT = CASSETTES / "agent.jsonl"


@pytest.fixture
def filled(rec: Rec) -> Rec:
    rec("capture", WEATHER, AGENT).fine()
    rec("erase", "agent", "--events", "3-5", "--reason", "why", "--yes").fine()
    return rec


@pytest.fixture
def there(tmp_path: Path) -> Rec:
    """Another database, that there is not yet."""
    return Rec(tmp_path / "there.db")


def streams(rec: Rec) -> dict[str, int]:
    return {row["stream"]: row["events"] for row in rec("ls", "--json").fine().json}


def exported(rec: Rec) -> bytes:
    return rec("export", "--jsonl").fine().stdout


# export, and back


def test_what_was_exported_is_captured_as_it_was(filled: Rec, there: Rec, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    done = filled("export", "--jsonl", "-o", file).fine()
    assert (done.out, done.err) == ("", f"{file}: 2 streams\n")
    assert file.read_bytes() == exported(filled)
    done = there("capture", file).fine()
    assert done.err == ("weather: stored 20 events\nagent: stored 59 events\nagent: 1 of its erasures were applied\n")
    assert exported(there) == exported(filled)
    assert there("verify", "--projections").fine().out == filled("verify").fine().out
    done = there("capture", file).fine()
    assert done.err == (
        "weather: known already, 20 events; nothing stored\nagent: known already, 59 events; nothing stored\n"
    )


def test_streams_are_exported_that_are_named(filled: Rec) -> None:
    whole = exported(filled)
    weather, agent = (filled("export", "--jsonl", name).fine().stdout for name in ("weather", "agent"))
    assert weather + agent == whole
    assert filled("export", "--jsonl", "latest", "weather").fine().stdout == agent + weather
    assert json.loads(weather.splitlines()[0])["stream"]["name"] == "weather"
    assert "there is no stream 'nobody'" in filled("export", "--jsonl", "nobody").refusal


def test_a_stream_can_be_given_a_name(filled: Rec, there: Rec) -> None:
    file = filled.file("x.jsonl", filled("export", "--jsonl", "weather").fine().stdout)
    assert there("capture", file, "--name", "w").fine().err == "w: stored 20 events\n"
    assert there("capture", file).fine().err == "w: known already, 20 events; nothing stored\n"
    both = filled.file("y.jsonl", exported(filled))
    told = there("capture", both, "--name", "w2")
    assert (told.code, told.out) == (2, "")
    assert told.err.splitlines() == [
        "w: known already, 20 events; nothing stored",
        f"rec: {both}: --name goes with one stream, and the export has more: leave it out",
    ]
    assert streams(there) == {"w": 20}


def test_an_export_goes_through_a_pipe(filled: Rec, there: Rec) -> None:
    """A real one, in pieces: how much comes first is up to the other program."""
    with subprocess.Popen(
        command("capture", "-", "-d", there.database), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        content = exported(filled)
        for piece in (content[:1], content[1:15], content[15:30], content[30:20_000], content[20_000:]):
            process.stdin.write(piece)
            process.stdin.flush()
            time.sleep(0.03)
        _, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err.decode().splitlines()[:2]) == (
        0,
        ["weather: stored 20 events", "agent: stored 59 events"],
    )
    assert exported(there) == content


def test_one_command_feeds_the_other(filled: Rec, there: Rec) -> None:
    with (
        subprocess.Popen(command("export", "--jsonl", "-d", filled.database), stdout=subprocess.PIPE) as source,
        subprocess.Popen(
            command("capture", "-", "--name", "w", "--tee", "-d", there.database),
            stdin=source.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as target,
    ):
        out, err = target.communicate(timeout=SECONDS)
        source.communicate(timeout=SECONDS)
    # Two streams under one name: it is refused, and all of it is passed on.
    assert target.returncode == 2
    assert b"--name goes with one stream" in err
    assert out == exported(filled)


def test_what_is_no_export_in_a_pipe_is_a_recording_as_ever(rec: Rec) -> None:
    for number, content in enumerate((sse(*CALL), b'{"recorder": "x"}\n{"a": 1}\n', AGENT.read_bytes())):
        process = subprocess.run(
            command("capture", "-", "--name", f"s{number}", "-d", rec.database), input=content, capture_output=True
        )
        assert process.returncode == 0, process.stderr
        assert rec("replay", f"s{number}", "--emit", "raw").fine().stdout == content


def test_an_export_in_gzip_is_one(filled: Rec, there: Rec) -> None:
    file = filled.file("x.jsonl.gz", gzip.compress(exported(filled)))
    there("capture", file).fine()
    assert exported(there) == exported(filled)


def test_of_several_files_one_that_is_refused_keeps_no_other_out(filled: Rec, there: Rec) -> None:
    whole = exported(filled)
    cut = filled.file("cut.jsonl", whole[: len(whole) // 2])
    done = there("capture", cut, WEATHER, "--dialect", "openai.chat")
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith(f"rec: {WEATHER}: ") or "weather" in done.err
    assert f"rec: {cut}: line " in done.err or f"rec: {cut}: the export breaks off behind event" in done.err
    good = filled.file("good.jsonl", whole)
    assert there("capture", good).code == 0
    assert exported(there) == whole


def test_an_empty_stream_is_one(there: Rec, tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.db") as store:
        append(store, "nothing yet", [])
    content = Rec(tmp_path / "empty.db")("export", "--jsonl").fine().stdout
    assert there("capture", there.file("x.jsonl", content)).fine().err.startswith("nothing yet: stored 0 events")
    assert (
        there("capture", there.file("x.jsonl", content)).fine().err.startswith("nothing yet: known already, 0 events")
    )


def test_what_cannot_be_exported_is_refused(filled: Rec, tmp_path: Path) -> None:
    assert filled("export").refusal == "give the format: --jsonl"
    told = filled("export", "--jsonl", "-o", "/nowhere/x").refusal
    assert told == "/nowhere/x cannot be written: no such file or directory"
    assert f"{tmp_path} cannot be written: is a directory" in filled("export", "--jsonl", "-o", tmp_path).refusal
    assert "does not exist" in Rec(tmp_path / "nowhere.db")("export", "--jsonl").refusal


def test_an_export_that_does_not_fit_is_an_error_and_leaves_no_part_of_it(filled: Rec, tmp_path: Path) -> None:
    told = filled("export", "--jsonl", "-o", "/dev/full").refusal
    assert told == "/dev/full cannot be written: no space left on device"
    assert Path("/dev/full").exists()
    file = tmp_path / "x.jsonl"
    assert len(exported(filled)) > 40 * 1024
    limited = ("bash", "-c", 'ulimit -f 40; exec "$@"', "-")
    told = command_rec("export", "--jsonl", "-o", file, "-d", filled.database, under=limited).refusal
    assert told == f"{file} cannot be written: file too large"
    assert not file.exists()


def test_of_no_streams_nothing_is_exported(rec: Rec) -> None:
    rec("db", "upgrade").fine()
    assert exported(rec) == b""


# copy


def test_a_copy_says_what_it_did(filled: Rec, there: Rec) -> None:
    def copied(*names: str) -> list[str]:
        done = here("copy", str(filled.database), str(there.database), *names).fine()
        assert done.out == ""
        return done.err.splitlines()

    assert copied("agent") == ["agent: copied 59 events; 1 of its erasures applied"]
    assert copied() == ["weather: copied 20 events", "agent: known already, 59 events"]
    with open_store(filled.database) as store:
        Ledger(store).writer("weather").append([event(1), event(2)])
    filled("erase", "agent", "--events", "7", "--reason", "x", "--yes").fine()
    assert copied() == [
        "weather: copied 2 more, 22 in all",
        "agent: copied 0 more, 59 in all; 1 of its erasures applied",
    ]
    assert sorted(exported(there).splitlines()) == sorted(exported(filled).splitlines())
    assert there("verify", "--projections").code == 0


def test_what_cannot_be_copied_keeps_nothing_else_out(filled: Rec, there: Rec) -> None:
    there("capture", WEATHER).fine()
    done = here("copy", str(filled.database), str(there.database))
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "rec: another stream has the name 'weather' there: give one of the two another (rec rename)",
        "agent: copied 59 events; 1 of its erasures applied",
    ]


def test_a_copy_needs_two_databases_and_makes_the_second(filled: Rec, there: Rec, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.db")
    assert f"{nowhere} does not exist" in here("copy", nowhere, str(there.database)).refusal
    assert not there.database.exists()
    assert "there is no stream 'x'" in here("copy", str(filled.database), str(there.database), "x").refusal
    told = here("copy", str(filled.database), str(tmp_path / "no" / "x.db")).refusal
    assert "cannot be made: there is no folder" in told
    assert "Missing argument 'DST'" in here("copy", str(filled.database)).refusal
    # Into itself there is nothing to do.
    assert here("copy", str(filled.database), str(filled.database)).fine().err.splitlines() == [
        "weather: known already, 20 events",
        "agent: known already, 59 events",
    ]


def older(path: Path, version: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database as a program of an older schema made it."""
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "SCHEMA", version)
        patch.setattr(migrate, "upgrade", partial(migrate.upgrade, to=version))
        open_store(path).close()
    return str(path)


@pytest.mark.parametrize("version", range(1, migrate.SCHEMA))
def test_an_older_database_is_brought_up_before_it_is_copied(
    filled: Rec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    old = older(tmp_path / "old.db", version, monkeypatch)
    told = here("copy", old, str(tmp_path / "x.db")).refusal
    assert told == f"{old} has schema {version}, older than this program's {migrate.SCHEMA}: run rec db upgrade"
    assert here("copy", str(filled.database), old).code == 0
    assert exported(Rec(Path(old))) == exported(filled)
    assert here("copy", old, str(tmp_path / "x.db")).code == 0


@pytest.mark.postgres
def test_a_server_and_a_file_are_copied_both_ways(filled: Rec, url: str, tmp_path: Path) -> None:
    back = Rec(tmp_path / "back.db")
    here("copy", str(filled.database), url).fine()
    assert here("export", "--jsonl", "-d", url).fine().stdout == exported(filled)
    done = here("copy", url, str(back.database)).fine()
    assert done.err == "weather: copied 20 events\nagent: copied 59 events; 1 of its erasures applied\n"
    assert exported(back) == exported(filled)
    assert here("verify", "--projections", "-d", url).fine().out == back("verify", "--projections").fine().out
    filled("erase", "weather", "--events", "2", "--reason", "x", "--yes").fine()
    assert here("copy", str(filled.database), url, "weather").fine().err == (
        "weather: copied 0 more, 20 in all; 1 of its erasures applied\n"
        "weather: the server holds old versions of the rows until VACUUM FULL, and in its WAL and backups\n"
    )


# What `resource` gives is no less than what the process was forked from had.
_PEAK = """
import sys
from recorder.cli.app import main
code = main(sys.argv[1:])
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(code, peak, file=sys.stderr)
"""


def peak(*arguments: str | Path, given: Path | None = None) -> int:
    """The most memory, in kilobytes, that a process of its own took for a command that must be fine."""
    with open(given or "/dev/null", "rb") as standard_input:
        done = subprocess.run(
            [sys.executable, "-c", _PEAK, *map(str, arguments)],
            stdin=standard_input,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=SECONDS,
        )
    code, kilobytes = done.stderr.split()[-2:]
    assert code == b"0", done.stderr
    return int(kilobytes)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted otherwise elsewhere")
def test_a_stream_larger_than_memory_would_do(tmp_path: Path) -> None:
    """Of three times the events no command takes noticeably more."""
    body = b"x" * 2_000_000
    found: dict[int, dict[str, int]] = {}
    for count in (6, 18):
        database, copied, taken = (tmp_path / f"{name}-{count}.db" for name in ("source", "copy", "taken"))
        with open_store(database) as store:
            for number in range(1, count + 1):
                append(store, "s", [event(number, body, dialect="unknown")])
        file = tmp_path / f"{count}.jsonl"
        found[count] = {
            "export": peak("export", "--jsonl", "-o", file, "-d", database),
            "copy": peak("copy", database, copied),
            "capture": peak("capture", file, "-d", taken),
            "erase": peak("erase", "s", "--events", "2", "--reason", "x", "--yes", "-d", database),
        }
        file.unlink()
    for name, small in found[6].items():
        assert found[18][name] < small + 14_000, (name, found)
        assert found[18][name] < 200_000, (name, found)


# tail


@contextmanager
def tailing(database: Any, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command("tail", "-f", *arguments, "-d", database),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_tail_follows_another_program_until_ctrl_c(database: str) -> None:
    with open_store(database) as store:
        append(store, "a", events(1, 3))
    with tailing(database, "-n", "2") as process:
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert [(line["stream"], line["seq"]) for line in lines] == [("a", 2), ("a", 3)]
        subprocess.run(
            command("capture", "-", "--name", "b", "-d", database), input=sse(*CALL), check=True, capture_output=True
        )
        lines = [json.loads(process.stdout.readline()) for _ in range(len(CALL))]
        assert [(line["stream"], line["seq"]) for line in lines] == [("b", n) for n in range(1, len(CALL) + 1)]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
        assert Done(process.returncode, out, err) == Done(130, b"", b"")
    again = here("tail", "--after", lines[1]["cursor"], "-d", database).fine()
    assert [json.loads(line)["seq"] for line in again.out.splitlines()] == [3, 4]


def test_a_tail_whose_reader_goes_away_ends(filled: Rec) -> None:
    with tailing(filled.database) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.stdout = None
        with open_store(filled.database) as store:
            deadline = time.monotonic() + 20
            number = 1
            while process.poll() is None and time.monotonic() < deadline:
                append(store, "more", [event(number, b"x" * 100_000)])
                number += 1
                time.sleep(0.05)
        assert process.returncode == 0


def test_a_tail_prints_what_is_there(filled: Rec) -> None:
    lines = [json.loads(line) for line in filled("tail").fine().out.splitlines()]
    assert [(line["stream"], line["seq"]) for line in lines] == [
        *(("weather", seq) for seq in range(1, 21)),
        *(("agent", seq) for seq in range(1, 60)),
    ]
    assert filled("tail", "-n", "0").fine().out == ""
    assert [json.loads(line) for line in filled("tail", "-n", "3").fine().out.splitlines()] == lines[-3:]
    assert [json.loads(line) for line in filled("tail", "-n", "70").fine().out.splitlines()] == lines[-70:]
    after = lines[30]["cursor"]
    assert [json.loads(line) for line in filled("tail", "--after", after).fine().out.splitlines()] == lines[31:]
    assert [json.loads(line) for line in filled("tail", "--after", after, "-n", "2").fine().out.splitlines()] == lines[
        -2:
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-n", "-1"], "--lines -1: give a number from 0 on"),
        (["-n", "x"], "--lines x: give a number from 0 on"),
        (["-n", "1234567890"], "--lines 1234567890: give a number from 0 on"),
        (["--after", "x"], "'x' is no cursor: give one that rec tail printed"),
        (["--after", ""], "'' is no cursor: give one that rec tail printed"),
    ],
)
def test_what_cannot_be_tailed_is_refused(filled: Rec, arguments: list[str], told: str) -> None:
    assert filled("tail", *arguments).refusal == told
