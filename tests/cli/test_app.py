"""The command as a whole: how it starts, helps, fails, and how it treats the pipes around it."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from recorder import __version__
from recorder.cli.app import main, program
from tests.command import CASSETTES, REPOSITORY, Rec, command, environment
from tests.command import rec as run


def commands(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of every command there is, those of groups before those of their members."""
    for name, found in group.commands.items():
        yield (*path, name)
        if hasattr(found, "commands"):
            yield from commands(found, *path, name)


COMMANDS = [(), *commands(typer.main.get_command(program()))]


def help_of(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*words, "--help"]) == 0
    return capsys.readouterr().out


def test_every_promised_verb_is_there() -> None:
    promised = {"capture", "ls", "show", "rename", "replay", "diff", "sql", "rebuild", "db"}
    assert promised <= {words[0] for words in COMMANDS if words}
    assert {("db", "upgrade"), ("db", "path"), ("db", "check")} <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_opens_with_examples_of_the_command_itself(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    sections = help_of(words, capsys).split("\n\n")
    assert sections[0].startswith(" ".join(("Usage: rec", *words)))
    assert sections[1].count("\n") == 0, "one line says what it does"
    assert sections[2].startswith("  Examples:\n")
    assert f"    rec {' '.join(words)}".rstrip() in sections[2]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_says_what_each_argument_and_option_is_for(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = help_of(words, capsys)
    assert "<str>" not in text
    lines = text.partition("\nArguments:\n" if "\nArguments:\n" in text else "\nOptions:\n")[2].splitlines()
    alone = [
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if line.startswith("  --") and "  " not in line.strip() and not after.startswith("      ")
    ]
    assert alone == []


@pytest.mark.parametrize("words", COMMANDS[1:], ids=" ".join)
def test_short_description_is_not_cut_off(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    listed = help_of(words[:-1], capsys).partition("Commands:\n")[2]
    assert f"  {words[-1]} " in listed
    assert "..." not in listed


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_documentation_shows_the_help_as_it_is(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    line = " ".join(("rec", *words, "--help"))
    document = (REPOSITORY / "docs" / "cli.md").read_text("utf-8")
    assert f"```console\n$ {line}\n{help_of(words, capsys)}```" in document, "run scripts/docs docs/cli.md"


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str) -> None:
    assert run(option).fine().out == f"rec {__version__}\n"


def test_version_among_other_options_is_answered_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--debug", "--version"]) == 0
    assert capsys.readouterr().out == f"rec {__version__}\n"


def test_without_arguments_it_shows_what_there_is() -> None:
    done = run()
    assert done.code == 2
    assert done.out == ""
    assert "Examples:" in done.err


@pytest.mark.parametrize("name", ["rec", "recorder"])
def test_it_is_installed_under_both_names(name: str) -> None:
    scripts = (REPOSITORY / "pyproject.toml").read_text().partition("[project.scripts]\n")[2].partition("\n\n")[0]
    assert f'{name} = "recorder.__main__:main"' in scripts.splitlines()


def test_database_option_wins_over_the_variable_which_wins_over_the_default(tmp_path: Path) -> None:
    named, variable = tmp_path / "named.db", {"REC_DATABASE": str(tmp_path / "variable.db")}
    assert run("db", "path", "-d", named, env=variable).fine().out == f"{named}\n"
    assert run("db", "path", "--database", named, env=variable).fine().out == f"{named}\n"
    assert run("db", "path", env=variable).fine().out == f"{variable['REC_DATABASE']}\n"
    default = Path(run("db", "path", env={"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}).fine().out.strip())
    assert default.is_relative_to(tmp_path)
    assert not default.parent.exists(), "to ask for the place makes nothing"


def test_default_folder_is_made_by_the_first_capture(tmp_path: Path) -> None:
    home = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    assert "does not exist: record something first" in run("ls", env=home).refusal
    assert not (tmp_path / "data").exists()
    run("capture", CASSETTES / "weather.sse", env=home).fine()
    assert [row["stream"] for row in run("ls", "--json", env=home).fine().json] == ["weather"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc takes no folders, on Linux")
def test_default_folder_that_cannot_be_made_is_one_line() -> None:
    done = run("capture", CASSETTES / "weather.sse", env={"XDG_DATA_HOME": "/proc/nothing", "HOME": "/proc/nothing"})
    assert "name a database with -d or REC_DATABASE" in done.refusal


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nope"], "No such command 'nope' (see rec --help)"),
        (["ls", "--xyzzy"], "No such option: --xyzzy (see rec ls --help)"),
        (["db", "nope"], "No such command 'nope' (see rec db --help)"),
        (["capture"], "name recordings, or - for standard input, or -- and a program (see rec capture --help)"),
        (["ls", "extra"], "(see rec ls --help)"),
        (["replay", "--at"], "(see rec replay --help)"),
        (["replay", "chat", "5"], "(write chat@5)"),
        (["show", "my chat", "5", "-d", "x.db"], "(write 'my chat@5')"),
        (["show", "chat", "--at", "3"], "(write chat@3)"),
        (["show", "--at=3", "chat"], "(write chat@3)"),
        (["show", "--at", "3"], "(write latest@3)"),
        (["sql", "SELECT", "*", "FROM", "events"], 'quote the query: rec sql "SELECT'),
        (["-d", "x.db", "ls"], "-d comes after the verb: rec ls -d runs.db"),
    ],
)
def test_misuse_is_one_line_that_names_the_help(arguments: list[str], told: str, tmp_path: Path) -> None:
    assert told in run(*arguments, folder=tmp_path).refusal


def test_debug_changes_nothing_for_an_error_that_is_expected(tmp_path: Path) -> None:
    none = tmp_path / "none.db"
    assert run("ls", "--debug", "-d", none).refusal == run("ls", "-d", none).refusal
    assert "No such option" in run("ls", "--debug", "--xyzzy").refusal


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_debug_shows_the_traceback_of_an_error_that_nobody_expected(
    recorded: Rec, debug: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise RuntimeError("out of ink")

    monkeypatch.setattr(sys, "stdout", Broken())
    assert main(["ls", "-d", str(recorded.database), *debug]) == 2
    told = capsys.readouterr().err
    assert ("Traceback" in told) == bool(debug)
    assert "rec: unexpected RuntimeError: out of ink" in told.splitlines()[-1]
    assert ("run it again with --debug" in told) != bool(debug)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_short_option_helps_as_well(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "-h"]) == 0
    assert capsys.readouterr().out == help_of(words, capsys)


def test_a_reader_that_goes_away_is_no_error(recorded: Rec, tmp_path: Path) -> None:
    """More than a pipe holds, so that the command is still writing when its reader has gone."""
    frames = b"".join(b'data: {"n": %d, "filling": "%s"}\n\n' % (n, b"x" * 2000) for n in range(400))
    (tmp_path / "long.sse").write_bytes(frames)
    database = tmp_path / "runs.db"
    run("capture", tmp_path / "long.sse", "-d", database).fine()
    for arguments in (["show", "long", "--nl"], ["replay", "long", "--emit", "sse"], ["sql", "SELECT * FROM events"]):
        with subprocess.Popen(
            command(*arguments, "-d", database), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_stdout_is_one_line(recorded: Rec) -> None:
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            command("show", "weather", "-d", recorded.database),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=60,
        )
    assert process.returncode == 2
    assert process.stderr == b"rec: the output: no space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_tee_that_cannot_be_written_does_not_keep_the_input_from_the_log(rec: Rec) -> None:
    with open("/dev/full", "wb") as full:
        process = subprocess.run(
            command("capture", "--tee", "-", "--name", "teed", "-d", rec.database),
            input=(CASSETTES / "weather.sse").read_bytes(),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=60,
        )
    assert process.returncode == 2
    lines = process.stderr.decode().splitlines()
    assert "standard output: no space left on device; from here on the input is stored and not passed on" in lines[0]
    assert "teed: stored 20 events" in lines[1]
    assert rec("replay", "teed", "--emit", "sse").stdout == (CASSETTES / "weather.sse").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes the streams")
def test_closed_standard_streams_are_no_error(recorded: Rec) -> None:
    line = f"'{sys.executable}' -m recorder ls -d '{recorded.database}' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], env=environment(), timeout=60).returncode == 0


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_output_is_utf8_whatever_the_locale(recorded: Rec, locale: str) -> None:
    env = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("replay", "weather", "--at", "9", "-d", recorded.database, env=env).fine()
    assert 'read as: {"city": "Almerí"}' in done.out


def test_only_data_goes_to_stdout(rec: Rec) -> None:
    done = rec("capture", CASSETTES / "weather.sse").fine()
    assert (done.out, done.err) == ("", "weather: stored 20 events\n")
    assert rec("rename", "weather", "w").fine().out == ""
    assert rec("rebuild").fine().out == ""
    assert rec("db", "upgrade").fine().out == ""
