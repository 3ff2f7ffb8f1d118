"""What a program's owner calls a secret is replaced wherever it may stand, and whatever goes wrong nothing is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from recorder.capture import capture_file
from recorder.errors import BadInput
from recorder.ledger import Ledger
from recorder.sources.redact import redact_answer, redact_form, redact_frame, redact_headers, redact_url
from recorder.sources.redact_rules import Hook, Place, parsed, set_hook


@pytest.fixture
def hooked() -> Iterator[None]:
    """Puts back whatever hook a test sets."""
    before = set_hook(None)
    yield
    set_hook(before)


@pytest.fixture(autouse=True)
def _no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REC_REDACT", raising=False)


@pytest.mark.parametrize(
    ("text", "names", "patterns"),
    [
        ("", set(), []),
        (" X-Team , session-id,", {"x-team", "session-id"}, []),
        ("/a/", set(), ["a"]),
        ("/a,b/,x", {"x"}, ["a,b"]),
        ("x,/a/b/ , y", {"x", "y"}, ["a/b"]),
        (r"/\d{3,4}/,/q/", set(), [r"\d{3,4}", "q"]),
    ],
)
def test_the_variable_is_read(text: str, names: set[str], patterns: list[str]) -> None:
    rules = parsed(text)
    assert rules.names == names
    assert [pattern.pattern for pattern in rules.patterns] == patterns


@pytest.mark.parametrize("text", ["/s3cret(/", "x,/s3cret", "/s3cret/x"])
def test_a_wrong_variable_lets_nothing_pass_and_does_not_show_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REC_REDACT", text)
    for redact in (
        lambda: redact_headers({"accept": ["x"]}),
        lambda: redact_url("https://api.example.test/"),
        lambda: redact_frame(b"x"),
    ):
        with pytest.raises(BadInput, match=r"^REC_REDACT: regex number 1 ") as caught:
            redact()
        assert "s3cret" not in str(caught.value)


def test_names_are_of_headers_query_keys_and_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REC_REDACT", "x-team,idempotency-key")
    assert redact_headers({"X-Team": ["a"], "Idempotency-Key": ["b"], "x-teams": ["c"]}) == (
        {"X-Team": ["[redacted]"], "Idempotency-Key": ["[redacted]"], "x-teams": ["c"]},
        ["header:X-Team", "header:Idempotency-Key"],
    )
    assert redact_url("https://a.test/x-team?x%2Dteam=a&b=c") == (
        "https://a.test/x-team?x%2Dteam=[redacted]&b=c",
        ["query:x-team"],
    )
    form = redact_form(b"x-team=a&b=c", "application/x-www-form-urlencoded")
    assert form == (b"x-team=[redacted]&b=c", ["form:x-team"])
    assert redact_frame(b'{"x-team": "a"}') == (b'{"x-team": "a"}', [])


def test_patterns_are_looked_for_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REC_REDACT", "/id-\\d+/")
    assert redact_headers({"x": ["of id-1 and id-2"]}) == ({"x": ["of [redacted] and [redacted]"]}, ["header:x"])
    assert redact_url("https://a.test/id-1?b=id-2") == ("https://a.test/[redacted]?b=[redacted]", ["url:rule"])
    assert redact_form(b'{"a": "id-1"}', "application/json") == (b'{"a": "[redacted]"}', ["body:rule"])
    assert redact_answer(b'{"a": "id-1"}') == (b'{"a": "[redacted]"}', ["body:rule"])
    assert redact_frame(b"\xffid-1") == (b"\xff[redacted]", ["body:rule"])


def _upper(place: Place, name: str, value: str) -> str:
    return value.replace("secret", f"{place}:{name}")


def _raises(place: Place, name: str, value: str) -> str:
    raise ValueError(value)


def _gives_nothing(place: Place, name: str, value: str) -> str:
    return None  # type: ignore[return-value]


@pytest.mark.usefixtures("hooked")
def test_a_hook_is_asked_last() -> None:
    set_hook(_upper)
    assert redact_headers({"x": ["secret"], "authorization": ["secret"]})[0] == {
        "x": ["header:x"],
        "authorization": ["[redacted]"],
    }
    assert redact_url("https://a.test/secret") == ("https://a.test/url:", ["url:rule"])
    assert redact_frame(b"a secret") == (b"a body:", ["body:rule"])
    assert set_hook(None) is _upper


@pytest.mark.usefixtures("hooked")
@pytest.mark.parametrize("hook", [_raises, _gives_nothing])
def test_a_hook_that_fails_lets_nothing_pass(hook: Hook) -> None:
    set_hook(hook)
    assert redact_headers({"x": ["secret"]})[0] == {"x": ["[redacted]"]}
    assert redact_url("https://a.test/secret") == ("[redacted]", ["url:rule"])
    assert redact_frame(b"a secret") == (b"[redacted]", ["body:rule"])


def test_the_rules_hold_for_recordings_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REC_REDACT", "x-team,/n-s3cret/")
    request = {
        "method": "POST",
        "uri": "https://api.openai.com/v1/chat/completions?x-team=s3cret",
        "body": json.dumps({"messages": [{"role": "user", "content": "n-s3cret"}]}),
        "headers": {"x-team": ["s3cret"]},
    }
    chunk = json.dumps({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "n-s3cret"}}]})
    response = {"status": {"code": 200}, "headers": {}, "body": {"string": f"data: {chunk}\n\ndata: [DONE]\n\n"}}
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "interactions": [{"request": request, "response": response}]}))
    with Ledger.open(tmp_path / "x.db") as ledger:
        capture_file(ledger, path)
        (message,) = ledger.sql("SELECT text FROM messages WHERE role = 'ai'")[1]
    assert tuple(message) == ("[redacted]",)
    assert all(b"s3cret" not in file.read_bytes() for file in tmp_path.iterdir() if file != path)
