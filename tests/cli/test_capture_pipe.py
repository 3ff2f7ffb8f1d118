"""`rec capture -`: stored while it comes, whatever ends it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import pytest

from recorder.events.chain import GENESIS, relink
from recorder.ledger import Ledger
from tests.capture.made import CALL, chunk, sse
from tests.command import CASSETTES, Rec, command, environment
from tests.command import rec as run

PATIENCE = 60.0
HALF = b'data: {"object":"chat.comp'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and waiting for pipes are others there")


class Capturing:
    """A running `rec capture -`."""

    def __init__(self, process: subprocess.Popen[bytes], database: Path) -> None:
        self._process = process
        self._database = database
        assert process.stdin is not None
        self._stdin: IO[bytes] = process.stdin
        self.stdout = process.stdout

    def send(self, data: bytes) -> None:
        self._stdin.write(data)
        self._stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Closes the pipe; gives the exit code and what was said."""
        _, err = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, err.decode()

    def ended(self) -> tuple[int, str]:
        """The same with the pipe still open."""
        code = self._process.wait(timeout=PATIENCE)
        assert self._process.stderr is not None
        return code, self._process.stderr.read().decode()

    def bodies(self) -> list[bytes]:
        """The bodies that another process finds in the database."""
        if not self._database.exists():
            return []
        try:
            with closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True)) as connection:
                return [row[0] for row in connection.execute("SELECT body FROM events ORDER BY seq")]
        except sqlite3.OperationalError:
            return []  # the schema is on its way

    def stored(self, count: int) -> list[bytes]:
        """The bodies, as soon as there are so many."""
        until(lambda: len(self.bodies()) >= count)
        return self.bodies()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def capturing(database: Path, *options: str) -> Iterator[Capturing]:
    process = subprocess.Popen(
        command("capture", "-", "--name", "x", "-d", database, *options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        with process:
            yield Capturing(process, database)
    finally:
        if process.poll() is None:
            process.kill()


def log_is_whole(database: Path) -> bool:
    """Whether SQLite finds no damage, and every hash follows from the one before."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Ledger.open(database, create=False) as ledger:
        head = ledger.head("x")
        previous = GENESIS
        for event in ledger.store.events(head, as_stored=True):
            previous = relink(previous, head.uuid, event)
            if event.hash != previous:
                return False
        return previous == head.head_hash


def test_each_line_is_in_the_database_while_the_pipe_is_open(rec: Rec) -> None:
    with capturing(rec.database) as capture:
        for number, payload in enumerate(CALL, 1):
            capture.send(sse(payload))
            assert capture.stored(number)[-1] == payload.encode()
            assert rec("replay", "x", "--json").fine().json["at"] == number
        assert capture.end() == (0, "x: stored 4 events\n")
    assert rec.rows("SELECT args, args_state FROM tool_calls") == [['{"a": 1}', "complete"]]


def test_what_is_not_yet_a_frame_waits_for_its_rest(rec: Rec) -> None:
    frame = sse(chunk(content="é"))
    with capturing(rec.database) as capture:
        capture.send(sse(CALL[0]) + frame[:-8])
        assert len(capture.stored(1)) == 1
        capture.send(frame[-8:])
        assert capture.stored(2)[1] == chunk(content="é").encode()


def test_a_stream_without_a_name_is_named_after_the_time(rec: Rec) -> None:
    assert rec("capture", "-", given=sse(*CALL)).fine().err.startswith("stdin-")
    ((name,),) = rec.rows("SELECT stream FROM streams")
    assert name.startswith("stdin-")


def test_the_capture_is_complete_once_the_pipe_has_ended(rec: Rec) -> None:
    with capturing(rec.database) as capture:
        capture.send(sse(*CALL[:2]))
        capture.stored(2)
        assert rec.rows("SELECT complete FROM log_captures") == [[0]]
        capture.send(sse(*CALL[2:]))
        assert capture.end()[0] == 0
    assert rec.rows("SELECT source, format, complete, first_seq, last_seq, bytes FROM log_captures") == [
        ["-", "sse", 1, 1, 4, len(sse(*CALL))]
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_input_and_all_that_was_read_is_stored(rec: Rec, number: signal.Signals) -> None:
    with capturing(rec.database) as capture:
        capture.send(sse(*CALL[:2]) + HALF)
        capture.stored(2)
        # The half frame came in the same write as the two before it, so that it was read with them.
        capture.signal(number)
        code, told = capture.ended()
    assert (code, told) == (130, "x: stored 3 events (findings: 1 partial-frame)\n")
    assert rec("replay", "x", "--emit", "sse").fine().stdout == sse(*CALL[:2]) + HALF
    assert rec.rows("SELECT kind FROM events WHERE seq = 3") == [["partial"]]
    assert rec.rows("SELECT complete FROM log_captures") == [[0]], "the source did not end"
    assert rec.rows("SELECT args_state FROM tool_calls") == [["open"]]
    assert log_is_whole(rec.database)


def test_what_was_interrupted_can_be_completed_from_a_file(rec: Rec) -> None:
    whole = sse(*CALL, "[DONE]")
    cut = len(sse(*CALL[:2])) + 17
    with capturing(rec.database) as capture:
        capture.send(whole[:cut])
        capture.stored(2)
        capture.signal(signal.SIGINT)
        assert capture.ended()[0] == 130
    assert rec("capture", rec.file("x.sse", whole)).fine().err == "x: stored 3 more, 6 events in all\n"
    assert rec("replay", "x", "--emit", "sse").fine().stdout == whole
    assert rec.rows("SELECT args, args_state FROM tool_calls") == [['{"a": 1}', "complete"]]


def test_a_signal_before_anything_came_leaves_no_stream(rec: Rec) -> None:
    with capturing(rec.database) as capture:
        until(lambda: rec.database.exists() and rec("ls").code == 0)
        time.sleep(0.2)  # by now it waits for its input
        capture.signal(signal.SIGINT)
        assert capture.ended() == (130, "nothing came; nothing was stored\n")
    assert rec("ls", "--json").fine().json == []


def test_a_signal_within_the_first_frame_stores_what_came(rec: Rec) -> None:
    with capturing(rec.database, "--tee") as capture:
        capture.send(b'{"object":"chat.comp')
        assert capture.stdout is not None
        assert os.read(capture.stdout.fileno(), 100) == b'{"object":"chat.comp', "so it has been read"
        capture.signal(signal.SIGINT)
        assert capture.ended()[0] == 130
    assert rec("replay", "x", "--emit", "jsonl").fine().stdout == b'{"object":"chat.comp'


def test_signals_without_end_lose_nothing_that_was_read(rec: Rec) -> None:
    """A signal at any moment, also between a read and the moment in which its bytes are held."""
    for attempt in range(5):
        database = rec.database.with_name(f"{attempt}.db")
        sent = [chunk(content=f"{attempt} {n}").encode() for n in range(300)]
        with capturing(database, "--tee") as capture:
            capture.send(sse(*sent[:100]))
            until(lambda: len(capture.bodies()) >= 1)
            capture.signal(signal.SIGINT)
            try:
                for payload in sent[100:]:
                    capture.send(sse(payload))
            except BrokenPipeError:
                pass
            assert capture.stdout is not None
            passed_on = capture.stdout.read()
            assert capture.ended()[0] == 130
        assert Rec(database)("replay", "x", "--emit", "sse").fine().stdout == passed_on


def test_kill_leaves_a_whole_log_of_what_had_come(rec: Rec) -> None:
    payloads = [chunk(id="c1", name="f", args=""), *(chunk(args=f"{n} ") for n in range(700))]
    with capturing(rec.database) as capture:
        capture.send(sse(*payloads[:600]))
        capture.stored(600)
        for payload in payloads[600:]:
            capture.send(sse(payload))
        capture.signal(signal.SIGKILL)
        assert capture.ended()[0] == -signal.SIGKILL
    stored = capture.bodies()
    assert len(stored) >= 600
    assert stored == [payload.encode() for payload in payloads[: len(stored)]]
    assert log_is_whole(rec.database)
    assert rec("replay", "x").fine().code == 0
    assert rec.rows("SELECT count(*) FROM tool_call_chunks") == [[len(stored)]], "the read model agrees with the log"
    rec("capture", rec.file("x.sse", sse(*payloads))).fine()
    assert rec("replay", "x", "--emit", "sse").fine().stdout == sse(*payloads)


def test_tee_passes_bytes_on_at_once_and_unchanged(rec: Rec) -> None:
    with capturing(rec.database, "--tee") as capture:
        assert capture.stdout is not None
        for piece in (b": \xff", b"\r\n", b"\r\nda", b"ta: {}\n\n", HALF):
            capture.send(piece)
            assert os.read(capture.stdout.fileno(), 1000) == piece
        assert capture.end()[0] == 0
    assert rec("replay", "x", "--emit", "sse").fine().stdout == b": \xff\r\n\r\ndata: {}\n\n" + HALF


def test_tee_of_a_file_is_the_file(rec: Rec) -> None:
    whole = (CASSETTES / "weather.sse").read_bytes()
    done = rec("capture", "-", "--tee", "--name", "x", given=whole).fine()
    assert done.stdout == whole
    assert rec("replay", "x", "--emit", "sse").fine().stdout == whole


@pytest.mark.parametrize("given", [b"Dear Sir\n" * 20_000, b"", b"\x1f\x8b" + bytes(100)])
def test_tee_passes_on_what_cannot_be_stored(rec: Rec, given: bytes) -> None:
    done = rec("capture", "-", "--tee", "--name", "x", given=given)
    assert done.code == 2
    assert done.stdout == given
    assert "nothing was stored" in done.err.splitlines()[-1]
    assert rec("ls", "--json").fine().json == []


def test_tee_goes_on_where_the_name_is_taken(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse", "--name", "x").fine()
    done = rec("capture", "-", "--tee", "--name", "x", given=sse(*CALL))
    assert done.code == 2
    assert done.stdout == sse(*CALL)
    assert "a stream 'x' exists already; give this one another name with --name" in done.err


def test_tee_goes_on_where_the_database_does_not(rec: Rec) -> None:
    with capturing(rec.database, "--tee") as capture:
        assert capture.stdout is not None
        capture.send(sse(CALL[0]))
        capture.stored(1)
        os.read(capture.stdout.fileno(), 1000)
        with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON log_events BEGIN SELECT RAISE(FAIL, 'no room'); END"
            )
        rest = sse(*CALL[1:])
        capture.send(rest)
        passed_on = os.read(capture.stdout.fileno(), 1000)
        code, told = capture.end()
    assert passed_on == rest
    assert code == 2
    assert "from here on the input is passed on and not stored" in told.splitlines()[0]
    assert capture.bodies() == [CALL[0].encode()]


def test_a_reader_of_tee_that_goes_away_ends_the_capture_with_all_that_was_read(rec: Rec) -> None:
    with capturing(rec.database, "--tee") as capture:
        capture.send(sse(CALL[0]))
        capture.stored(1)
        assert capture.stdout is not None
        capture.stdout.close()
        capture.send(sse(*CALL[1:]))
        code, told = capture.ended()
    assert (code, told) == (0, "x: stored 4 events\n")
    assert len(capture.bodies()) == 4


def test_an_empty_pipe_is_refused(rec: Rec) -> None:
    assert rec("capture", "-", given=b"").refusal == "standard input: nothing came; nothing was stored"
    assert "text that is no SSE" in rec("capture", "-", given=b"Dear Sir\n").refusal
    assert rec("ls", "--json").fine().json == []


def test_a_cassette_through_a_pipe_is_refused(rec: Rec) -> None:
    told = rec("capture", "-", given=(CASSETTES / "weather-agent.yaml").read_bytes()).refusal
    assert told == "standard input holds a cassette, a HAR file or gzip data; capture the file itself"


def test_a_pipe_under_a_name_that_is_taken_is_refused(rec: Rec) -> None:
    rec("capture", CASSETTES / "weather.sse").fine()
    told = rec("capture", "-", "--name", "weather", given=sse(*CALL)).refusal
    assert told == "a stream 'weather' exists already; give this one another name with --name"


def test_a_stream_that_is_renamed_meanwhile_gets_the_rest(rec: Rec) -> None:
    with capturing(rec.database) as capture:
        capture.send(sse(*CALL[:2]))
        capture.stored(2)
        rec("rename", "x", "y").fine()
        rec("capture", CASSETTES / "weather.sse", "--name", "x").fine()
        capture.send(sse(*CALL[2:]))
        assert capture.end() == (0, "y: stored 4 events\n")
    assert rec("replay", "y", "--emit", "sse").fine().stdout == sse(*CALL)
    assert rec.rows("SELECT args, args_state FROM tool_calls WHERE stream = 'y'") == [['{"a": 1}', "complete"]]


@pytest.mark.parametrize("others", [CALL, CALL[:1]], ids=["the same bytes", "other bytes"])
def test_of_two_pipes_under_one_new_name_the_second_is_refused(rec: Rec, others: tuple[str, ...]) -> None:
    with capturing(rec.database) as late:
        late.send(b"\n")  # nothing to recognise yet: it has looked for the name, and holds none
        until(lambda: rec.database.exists() and rec("ls").code == 0)
        time.sleep(0.3)
        rec("capture", "-", "--name", "x", given=sse(*CALL)).fine()
        late.send(sse(*others))
        code, told = late.end()
    assert code == 2
    assert told == "rec: another capture makes the stream 'x' as well; give this one another name with --name\n"
    assert rec("ls", "--nl").fine().json["events"] == 4


def test_a_first_line_longer_than_what_is_looked_at_is_stored_when_it_ends(rec: Rec) -> None:
    line = chunk(content="x" * 200_000).encode() + b"\n"
    done = run("capture", "-", "--name", "x", "-d", rec.database, given=line * 3)
    assert done.fine().err == "x: stored 3 events\n"
    assert rec("replay", "x", "--emit", "jsonl").fine().stdout == line * 3
