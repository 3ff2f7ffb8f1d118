"""Every stream of real traffic through the command line and back out of SQL, on both databases: the calls it has."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus import CORPUS

SCORE = CORPUS.parent / "tools" / "score_corpus"
pytestmark = [
    pytest.mark.skipif(not SCORE.exists(), reason=f"no score tool at {SCORE}"),
    pytest.mark.slow,
]
WITHOUT_ARGUMENTS = {"ver0050__0.ndjson", "ver0055__0.ndjson", "ver0077__0.ndjson", "lco0019__0.sse", "lco0022__0.sse"}
"""Their expectations name calls and leave the arguments out, which the bytes have: Gemini's partial arguments, and the
free text of OpenAI's custom tools."""
CALL = re.compile(r"\((None|'\w+'), '(\w+)'")
"""Id and name of a call as the tool prints it."""
DIFFERS = re.compile(r"^(\S+) \((\S+)\)\n  want (.*)\n  have (.*)$", re.MULTILINE)


def score(database: str, tmp_path: Path, *arguments: str | Path) -> str:
    """What the tool prints where `rec` works on this database, whatever `-d` the tool gives."""
    rec = tmp_path / "rec"
    rec.write_text(
        f"#!{sys.executable}\nimport os, sys\nfrom recorder.__main__ import main\n"
        "sys.argv[sys.argv.index('-d') + 1] = os.environ['SCORED_DATABASE']\nsys.exit(main())\n"
    )
    rec.chmod(0o755)
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "SCORED_DATABASE": database, "PYTHONPATH": root}
    command = [sys.executable, SCORE, "--rec", str(rec), "--show", "50", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=environment)
    assert done.returncode in (0, 1), f"{shlex.join(map(str, command))}\n{done.stderr}"
    return done.stdout


def test_every_call_of_the_corpus_is_found_and_no_other(database: str, tmp_path: Path) -> None:
    found = DIFFERS.findall(score(database, tmp_path))
    assert {stream for stream, *_ in found} == WITHOUT_ARGUMENTS
    for _, _, want, have in found:
        assert CALL.findall(want) == CALL.findall(have)


def test_every_call_of_the_reported_streams_is_found(database: str, tmp_path: Path) -> None:
    assert "  12/12   all\n" in score(database, tmp_path, CORPUS / "reported")
