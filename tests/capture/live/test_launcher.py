"""`rec capture -- PROGRAM` with real programs: what they do is recorded, and they do not notice."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import recorder
from recorder.capture.live import endings
from recorder.capture.live.intake import take_in
from recorder.capture.live.launcher import program_name
from tests.capture.live.test_sink import whole
from tests.capture.live.wire import Answer, serving
from tests.capture.made import CALL, sse
from tests.command import SECONDS, Done, command, environment
from tests.databases import made

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and forks are those of POSIX")

SAY = """
import os, sys, time
import urllib3
from recorder.capture.live.session import current
from tests.capture.live.words import Word
def say(text): current().put(Word(str(text)))
"""
"""The beginning of a program: what it says is recorded. Any library that is waited for begins the recording."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return made(tmp_path / "runs.db")


def capture(
    database: Path, *program: str | Path, env: dict[str, str] | None = None, name: str = "s", given: bytes = b""
) -> Done:
    """Runs a program under the launcher, in the database's folder."""
    done = subprocess.run(
        command("capture", "--name", name, "-d", database, "--", *program),
        cwd=database.parent,
        env=environment(env),
        input=given,
        capture_output=True,
        timeout=SECONDS,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def python(database: Path, body: str, *, file: str = "agent.py") -> Path:
    """A script in the database's folder."""
    path = database.parent / file
    path.write_text(body)
    return path


def ran(database: Path, body: str, *, file: str = "agent.py") -> Done:
    return capture(database, sys.executable, python(database, body, file=file))


def words(database: Path) -> dict[str, list[str]]:
    """What was said, by stream."""
    with recorder.open(database, readonly=True) as log:
        return {head.name: [event.body.decode()[9:-2] for event in log.events(head.name)] for head in log.streams()}


def parents(database: Path) -> dict[str, str | None]:
    with recorder.open(database, readonly=True) as log:
        return {head.name: head.parent for head in log.streams()}


# How programs are started


def test_a_script_with_its_arguments(database: Path) -> None:
    done = capture(database, sys.executable, python(database, f"{SAY}say(sys.argv[1:])"), "-d", "--debug", "--", "x")
    assert (done.code, done.stdout) == (0, b"")
    assert done.err == "s: recorded 1 event\n"
    assert words(database) == {"s": ["['-d', '--debug', '--', 'x']"]}
    whole(database)


def test_a_module_and_a_command_line(database: Path) -> None:
    package = database.parent / "pack"
    package.mkdir()
    (package / "__main__.py").write_text(f"{SAY}say(__name__)")
    assert capture(database, sys.executable, "-m", "pack", name="a").fine().err == "a: recorded 1 event\n"
    assert capture(database, sys.executable, "-c", f"{SAY}say(__name__)", name="b").fine().err.startswith("b: ")
    assert words(database) == {"a": ["__main__"], "b": ["__main__"]}


def test_a_console_script_and_a_shell(database: Path) -> None:
    script = python(database, f"#!{sys.executable}\n{SAY}say('script')", file="tool")
    script.chmod(0o755)
    assert capture(database, "./tool", name="a").fine().err == "a: recorded 1 event\n"
    line = f"true; ./tool; {shlex.quote(sys.executable)} agent.py"
    python(database, f"{SAY}say('second')")
    assert capture(database, "sh", "-c", line, name="b").fine().err.startswith("b: recorded 1 event; 1 event of its")
    found = words(database)
    (second,) = found.keys() - {"a", "b"}
    assert found == {"a": ["script"], "b": ["script"], second: ["second"]}
    assert parents(database)[second] == "b"


def test_tasks_threads_and_pools(database: Path) -> None:
    body = f"""{SAY}
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
async def task(n): await asyncio.sleep(0); say(f"task {{n}}")
async def main(): await asyncio.gather(*map(task, range(200)))
asyncio.run(main())
threads = [threading.Thread(target=say, args=(f"thread {{n}}",)) for n in range(50)]
for t in threads: t.start()
for t in threads: t.join()
with ThreadPoolExecutor(8) as pool: list(pool.map(say, (f"pool {{n}}" for n in range(100))))
"""
    assert ran(database, body).fine().err == "s: recorded 350 events\n"
    kinds = [("task", 200), ("thread", 50), ("pool", 100)]
    assert sorted(words(database)["s"]) == sorted(f"{kind} {n}" for kind, count in kinds for n in range(count))
    whole(database)


PROCESSES = {
    "fork": """
for n in range(2):
    if os.fork() == 0:
        say(f"child {n}"); os._exit(0)
for n in range(2): os.wait()
""",
    "multiprocessing fork": """
import multiprocessing
context = multiprocessing.get_context("fork")
if __name__ == "__main__":
    children = [context.Process(target=say, args=(f"child {n}",)) for n in range(2)]
    for c in children: c.start()
    for c in children: c.join()
""",
    "multiprocessing spawn": """
import multiprocessing
context = multiprocessing.get_context("spawn")
if __name__ == "__main__":
    children = [context.Process(target=say, args=(f"child {n}",)) for n in range(2)]
    for c in children: c.start()
    for c in children: c.join()
""",
    "multiprocessing forkserver": """
import multiprocessing
context = multiprocessing.get_context("forkserver")
if __name__ == "__main__":
    children = [context.Process(target=say, args=(f"child {n}",)) for n in range(2)]
    for c in children: c.start()
    for c in children: c.join()
""",
    "subprocess": """
import subprocess
if len(sys.argv) > 1: say(sys.argv[1]); sys.exit()
for n in range(2): subprocess.run([sys.executable, __file__, f"child {n}"], check=True)
""",
    "exec": """
if len(sys.argv) > 1: say(sys.argv[1]); sys.exit()
for n in range(2):
    if os.fork() == 0: os.execv(sys.executable, [sys.executable, __file__, f"child {n}"])
for n in range(2): os.wait()
""",
}


@pytest.mark.parametrize("kind", PROCESSES)
def test_processes_have_streams_of_their_own(database: Path, kind: str) -> None:
    body = f"{SAY}{PROCESSES[kind]}if __name__ == '__main__': say('parent')"
    done = ran(database, body).fine()
    found, born = words(database), parents(database)
    assert found.pop("s") == ["parent"]
    assert sorted(found.values()) == [["child 0"], ["child 1"]]
    for name in found:
        assert name.removeprefix("s/").replace("/", "").isdecimal()
        assert born[name] == name.rpartition("/")[0]
    assert done.err.startswith("s: recorded 1 event; 2 events of its processes in 2 streams, s/")
    assert done.err.count("\n") == 1
    whole(database)


def test_a_child_of_a_process_in_which_nothing_is_recorded_yet(database: Path) -> None:
    """The fork comes before the library that begins the recording."""
    body = (
        f"import os\nchild = os.fork()\nif child: os.waitpid(child, 0)\n{SAY}say('child' if child == 0 else 'parent')"
    )
    ran(database, body).fine()
    found = words(database)
    assert found.pop("s") == ["parent"]
    assert list(found.values()) == [["child"]]
    assert {parents(database)[name] for name in found} == {"s"}


# The program does not notice


SEE = """
import sys
print(sys.argv, sys.path, sys.flags, sys.orig_argv, sys.warnoptions, sorted(vars(sys.modules["__main__"])))
print(list(sys.modules), list(sys.path_importer_cache), [type(f).__name__ for f in sys.meta_path if {keep}])
import os, signal, warnings, threading
print([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)], warnings.filters)
print([t.name for t in threading.enumerate()], os.getcwd(), sys.stdin.read())
try: import sitecustomize; print(sitecustomize.__file__, sitecustomize.VALUE)
except ImportError as error: print(repr(error), error.name)
print("to stderr", file=sys.stderr)
"""


@pytest.mark.parametrize(
    "own", [None, "VALUE = 5\n", "VALUE = 5\nraise ImportError('its own')\n", "import urllib3\nVALUE = 6"]
)
def test_the_program_sees_what_it_sees_without(database: Path, own: str | None) -> None:
    begins = own is not None and "urllib3" in own
    body = SEE.format(keep="type(f).__name__ != '_Waiting'")
    if begins:
        # Then the recorder's own modules are imported as well.
        body = "\n".join(line for line in body.splitlines() if "sys.modules)" not in line and "enumerate" not in line)
        body = body.replace("signal.SIGTERM", "signal.SIGINT")
    script = python(database, body)
    folder = database.parent / "site"
    folder.mkdir()
    if own is not None:
        (folder / "sitecustomize.py").write_text(own)
    env = environment({"PYTHONPATH": os.pathsep.join([str(folder), environment()["PYTHONPATH"]])})
    for _ in range(2):  # the first makes the bytecode
        plain = subprocess.run(
            [sys.executable, script, "a", "--b"], cwd=database.parent, env=env, input=b"in", capture_output=True
        )
    done = capture(database, sys.executable, script, "a", "--b", env={"PYTHONPATH": env["PYTHONPATH"]}, given=b"in")
    assert done.stdout == plain.stdout
    # The launcher is a Python too, with a `sitecustomize` that may fail.
    *of_site, of_program = plain.stderr.splitlines()
    assert done.stderr.splitlines()[:-1] == [*of_site, *of_site, of_program]
    assert done.code == plain.returncode == 0


def test_a_program_that_has_a_module_called_recorder_runs_as_before(database: Path) -> None:
    folder = database.parent / "agent"
    folder.mkdir()
    (folder / "recorder.py").write_text("print('its own')\n")
    done = ran(database, "import urllib3, recorder; print(recorder.__file__)", file="agent/agent.py")
    assert done.out == f"its own\n{folder / 'recorder.py'}\n"
    first, last = done.err.splitlines()
    assert first.startswith("recorder: the program has a module of its own that is called recorder (")
    assert last.startswith("s: nothing was recorded: ")


def test_a_python_without_recorder_says_so_once_and_runs_on(database: Path, tmp_path: Path) -> None:
    home = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True, timeout=SECONDS)
    line = f"PYTHONPATH=${{PYTHONPATH%%:*}}; for n in 1 2; do {home}/bin/python -c 'print({SECONDS})'; done; exit 4"
    done = capture(database, "sh", "-c", line)
    assert (done.code, done.out) == (4, f"{SECONDS}\n{SECONDS}\n")
    assert done.err.splitlines() == [
        f"recorder: {home}/bin/python has no recorder installed: what it runs is not recorded",
        f"s: nothing was recorded: {home}/bin/python has no recorder installed",
    ]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (["true"], "no Python that takes a recorder in was run"),
        ([sys.executable, "-c", "pass"], "it used neither LangChain nor an HTTP library that is known"),
        ([sys.executable, "-c", "import urllib3"], "no traffic with a model was seen"),
        ([sys.executable, "-I", "-c", "pass"], "Python takes no recorder in with -I"),
    ],
)
def test_where_there_is_nothing_a_likely_reason_is_given(database: Path, program: list[str], why: str) -> None:
    assert capture(database, *program).fine().err == f"s: nothing was recorded: {why}\n"
    assert words(database) == {}


# How programs end


ENDS = {
    "0": ("pass", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('planted')", 1),
    "os._exit": ("os._exit(5)", 5),
    "os._exit of a thread": (
        "import threading; threading.Thread(target=os._exit, args=(6,)).start(); time.sleep(9)", 6),
    "os.abort": ("os.abort()", -signal.SIGABRT),
    "SIGTERM": ("os.kill(os.getpid(), 15); time.sleep(9)", -signal.SIGTERM),
    "SIGHUP": ("os.kill(os.getpid(), 1); time.sleep(9)", -signal.SIGHUP),
    "SIGTERM with a handler": (
        "import signal; signal.signal(15, lambda *a: sys.exit(8)); os.kill(os.getpid(), 15); time.sleep(9)", 8),
    "SIGTERM with a handler that calls the one before": (
        "import signal\nbefore = signal.getsignal(15)\n"
        "def end(*a):\n    if callable(before): before(*a)\n    sys.exit(8)\n"
        "signal.signal(15, end); os.kill(os.getpid(), 15); time.sleep(9)", 8),
    "Ctrl-C": ("import signal; signal.raise_signal(2); time.sleep(9)", -signal.SIGINT),
    "sys.exit after a Ctrl-C": ("try: raise KeyboardInterrupt\nexcept KeyboardInterrupt: sys.exit(4)", 4),
    "exec": ("os.execlp('sh', 'sh', '-c', 'exit 7')", 7),
}  # fmt: skip


@pytest.mark.parametrize("kind", ENDS)
def test_an_end_flushes_and_is_passed_on(database: Path, kind: str) -> None:
    if kind == "SIGHUP" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        pytest.skip("the tests run under nohup: so do the programs that they start")
    ending, code = ENDS[kind]
    done = ran(database, f"{SAY}\nfor n in range(300): say(n)\n{ending}")
    assert done.code == code
    assert done.err.splitlines()[-1] == "s: recorded 300 events"
    assert words(database) == {"s": [str(n) for n in range(300)]}
    whole(database)


def test_an_interrupt_is_told_though_the_recorder_evaluates_a_text_at_the_exit(database: Path) -> None:
    """As imports do, of what knows databases: then CPython takes a `KeyboardInterrupt` for handled."""
    reading = "before = Word.events\ndef reading(self, *given):\n    eval('1')\n    return before(self, *given)\n"
    done = ran(database, f"{SAY}{reading}Word.events = reading\nsay(0)\nraise KeyboardInterrupt")
    assert done.code == -signal.SIGINT
    assert words(database) == {"s": ["0"]}


def test_a_program_that_is_killed_leaves_all_but_its_last_moments(database: Path) -> None:
    body = f"{SAY}\nfor n in range(300): say(n)\ntime.sleep(3)\nsay('late'); os.kill(os.getpid(), 9)"
    done = ran(database, body)
    assert done.code == -signal.SIGKILL
    assert done.err.startswith("s: recorded 300 events; process ")
    assert done.err.endswith(" was killed: its last moments may be missing\n")
    assert words(database) == {"s": [str(n) for n in range(300)]}
    whole(database)


WAITING = f"""{SAY}
import signal
heard = []
signal.signal(signal.SIGINT, lambda *a: heard.append("INT"))
signal.signal(signal.SIGUSR1, lambda *a: heard.append("USR1"))
def end(*a): print(heard, flush=True); say(heard); sys.exit(9)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True: time.sleep(0.05)
"""


def test_signals_to_the_launcher_reach_the_program(database: Path) -> None:
    script = python(database, WAITING)
    process = subprocess.Popen(
        command("capture", "--name", "s", "-d", database, "--", sys.executable, script),
        cwd=database.parent, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGTERM):
        process.send_signal(number)
        time.sleep(0.5)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out, err) == (9, b"['INT', 'USR1']\n", b"s: recorded 1 event\n")


def test_a_terminals_interrupt_reaches_the_program_once(database: Path) -> None:
    pty = pytest.importorskip("pty")
    script = python(database, WAITING)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(database.parent)
        arguments = command("capture", "--name", "s", "-d", database, "--", sys.executable, script)
        os.execve(sys.executable, arguments, environment())
    written = b""
    while b"ready" not in written:
        written += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    time.sleep(1)
    os.kill(child, signal.SIGTERM)
    while b"recorded" not in written:
        written += os.read(terminal, 1000)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    os.close(terminal)
    assert b"['INT']" in written


# The database is away


def test_while_the_database_is_away_the_program_goes_on_and_nothing_is_lost(database: Path) -> None:
    body = f"{SAY}\nfor n in range(500): say(n); print(n)\nsys.exit(3)"
    script = python(database, body)
    plain = "".join(f"{n}\n" for n in range(500))
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    done = capture(database, sys.executable, script)
    other.execute("ROLLBACK")
    other.close()
    assert (done.code, done.out) == (3, plain)
    assert done.err.count("\n") == 1
    assert "events wait in " in done.err
    assert words(database) == {}
    taken = subprocess.run(
        command("capture", "-d", database, "--spool", database.parent), capture_output=True, env=environment()
    )
    assert (taken.returncode, taken.stderr) == (0, b"s: stored 500 events\n")
    assert words(database) == {"s": [str(n) for n in range(500)]}
    assert list(database.parent.glob("*.spool")) == []
    whole(database)


@pytest.mark.parametrize("ending", ["os._exit(4)", "os.kill(os.getpid(), 15)"])
def test_an_end_while_the_database_is_locked_is_short_and_nothing_is_lost(database: Path, ending: str) -> None:
    body = f"{SAY}\nfor n in range(300): say(n)\nprint(time.monotonic(), flush=True)\n{ending}"
    script = python(database, body)
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    run = shlex.quote(sys.executable)
    shell = f"{run} agent.py; {run} -c 'import time; print(time.monotonic())'"
    done = capture(database, "sh", "-c", shell)
    other.execute("ROLLBACK")
    other.close()
    began, ended = map(float, done.out.split())
    assert ended - began < 10 * endings.SECONDS
    # What the writer had put aside by then, and what it had not.
    spools = sorted(script.parent.glob("*.spool"))
    assert spools
    with recorder.open(database) as log:
        for spool in spools:
            assert f"events wait in {spool}: rec capture --spool takes them in" in done.err
            take_in(log, spool)
    assert words(database) == {"s": [str(n) for n in range(300)]}


def test_a_database_that_comes_back_gets_the_spool_at_the_end(tmp_path: Path) -> None:
    database = tmp_path / "later" / "runs.db"
    body = f"{SAY}\nfor n in range(10): say(n)\ntime.sleep(0.5); os.mkdir('later'); os.kill(os.getpid(), 9)"
    script = tmp_path / "agent.py"
    script.write_text(body)
    done = subprocess.run(
        command("capture", "--name", "s", "-d", database, "--", sys.executable, script),
        cwd=tmp_path, env=environment(), capture_output=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    assert done.stderr.startswith(b"s: recorded 10 events; process ")
    assert words(database) == {"s": [str(n) for n in range(10)]}


def test_a_name_that_there_is_already_is_told(database: Path) -> None:
    ran(database, f"{SAY}say(1)").fine()
    done = ran(database, f"{SAY}say(2)\nif os.fork() == 0: say(3)\nelse: os.wait()").fine()
    found = words(database)
    other = next(name for name, said in found.items() if said == ["2"])
    assert done.err.startswith(f"{other}: recorded 1 event; 1 event of its processes in {other}/")
    assert done.err.endswith("; there was a stream 's' already\n")
    assert [parents(database)[name] for name, said in found.items() if said == ["3"]] == [other]


# Models


AGENT = """
import sys
import httpx2
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
for chunk in GenericFakeChatModel(messages=iter([AIMessage("hello big world")])).stream("hi"):
    print(chunk.content, end="|")
with httpx2.stream("POST", sys.argv[1] + "/v1/chat/completions", json={"model": "m", "messages": []}) as answer:
    for piece in answer.iter_bytes(): print(piece)
"""


def test_both_readings_of_an_agent_are_in_one_stream_and_its_output_is_the_same(database: Path) -> None:
    script = python(database, AGENT)
    with serving() as server:
        server.answers["/v1/chat/completions"] = Answer([sse(*CALL, "[DONE]")])
        plain = subprocess.run([sys.executable, script, server.url], env=environment(), capture_output=True)
        done = capture(database, sys.executable, script, server.url).fine()
    assert (done.stdout, done.err.count("\n")) == (plain.stdout, 1)
    assert plain.stdout.startswith(b"hello| |big| |world|")
    with recorder.open(database, readonly=True) as log:
        assert {event.layer for event in log.events("s")} == {"framework", "wire"}
        state = log.state("s")
        assert [message["text"] for message in state.messages if message["layer"] == "framework"] == ["hello big world"]
        assert [(call["name"], call["value"]) for call in state.calls] == [("add", {"a": 1})]
    whole(database)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python agent.py x.py", "agent"),
        ("/usr/bin/python3.11 -u -m pack.tool x", "tool"),
        ("python -c 1", "python"),
        ("python", "python"),
        ("./tool --x", "tool"),
        ("uvicorn app:app", "uvicorn"),
    ],
)
def test_a_stream_is_named_after_what_is_run(command: str, name: str) -> None:
    assert program_name(command.split()) == name
