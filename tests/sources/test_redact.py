"""Secrets in heads never get past here; everything else does, unchanged."""

from __future__ import annotations

import pytest

from recorder.sources.redact import redact_answer, redact_form, redact_headers, redact_url


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "proxy-authorization",
        "Cookie",
        "set-cookie",
        "x-api-key",
        "api-key",
        "X-Goog-Api-Key",
        "Ocp-Apim-Subscription-Key",
        "x-amz-security-token",
        "X-Auth-Token",
        "x-vault-token",
        "token",
        "x-client-secret",
        "x-hub-signature",
        "x-hub-signature-256",
        "Helicone-Auth",
        "x-csrftoken",
        "x-goog-iap-jwt-assertion",
        "x-amzn-oidc-data",
        "x-ms-authorization-auxiliary",
        "x-portkey-virtual_key",
        "X-Passphrase",
        " Authorization ",
    ],
)
def test_a_secret_header_is_replaced_and_marked(name: str) -> None:
    assert redact_headers({name: ["s3cret", "t0o"]}) == ({name: ["[redacted]", "[redacted]"]}, [f"header:{name}"])


@pytest.mark.parametrize(
    "name",
    [
        "content-type",
        "x-ratelimit-remaining-tokens",
        "anthropic-ratelimit-tokens-limit",
        "Idempotency-Key",
        "access-control-allow-credentials",
        "x-request-id",
        "openai-organization",
        "WWW-Authenticate",
        "Sec-WebSocket-Key",
        "Sec-WebSocket-Accept",
    ],
)
def test_other_headers_stay(name: str) -> None:
    assert redact_headers({name: ["v"]}) == ({name: ["v"]}, [])


@pytest.mark.parametrize("name", ["Location", "Referer", "x-goog-upload-url", "x-original-url"])
def test_a_header_that_holds_a_url_is_cleaned_inside(name: str) -> None:
    headers, marks = redact_headers({name: ["https://h/p?key=s3cret&a=1", "/p?a=1"]})
    assert headers == {name: ["https://h/p?key=[redacted]&a=1", "/p?a=1"]}
    assert marks == [f"header:{name}"]


@pytest.mark.parametrize("value", ["Bearer s3cret", "basic czNjcmV0", "AWS4-HMAC-SHA256 Credential=s3cret/x"])
def test_credentials_are_found_by_their_scheme_whatever_the_headers_name(value: str) -> None:
    assert redact_headers({"x-upstream": [value]}) == ({"x-upstream": ["[redacted]"]}, ["header:x-upstream"])


@pytest.mark.parametrize(
    ("protocols", "clean"),
    [
        ("realtime, openai-insecure-api-key.s3cret, openai-beta.realtime-v1", "realtime, [redacted]"),
        ("bearer, s3cret", "[redacted]"),
        ("graphql-ws", "graphql-ws"),
    ],
)
def test_a_key_among_the_protocols_of_a_web_socket_is_replaced(protocols: str, clean: str) -> None:
    assert redact_headers({"Sec-WebSocket-Protocol": [protocols]})[0] == {"Sec-WebSocket-Protocol": [clean]}


KEYS = [
    "sk-proj-0123456789abcdefghij",
    "AIza" + "x" * 35,
    "gsk_" + "a" * 40,
    "xai-" + "b" * 80,
    "eyJhbGciOiJ9.eyJzdWIiOiJ9.c",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_found_by_its_shape(key: str) -> None:
    assert redact_headers({"x-note": [f"for {key}"]}) == ({"x-note": ["for [redacted]"]}, ["header:x-note"])
    assert redact_url(f"https://h/{key}/chat?q=1") == ("https://h/[redacted]/chat?q=1", ["url:key"])


@pytest.mark.parametrize(
    "word", ["risk-0123456789abcdefghijklm", "sk-short", "xai-grok-4-fast-reasoning-latest", "resp_68"]
)
def test_what_only_resembles_a_key_stays(word: str) -> None:
    assert redact_url(f"https://h/{word}/chat") == (f"https://h/{word}/chat", [])


def test_the_secrets_of_a_form_are_replaced_and_no_other_body_is_touched() -> None:
    form = b"grant_type=client_credentials&client_id=a%20b&client_secret=s3cret&refresh_token=s3cret&note=\xff"
    clean, marks = redact_form(form, "application/x-www-form-urlencoded")
    assert clean == (
        b"grant_type=client_credentials&client_id=a%20b&client_secret=[redacted]&refresh_token=[redacted]&note=\xff"
    )
    assert marks == ["form:client_secret", "form:refresh_token"]
    assert redact_form(form, "application/json") == (form, [])


def test_the_tokens_that_an_answer_hands_out_are_replaced() -> None:
    answer = b'{\n "access_token": "s3\\"cret",\n "expires_in": 3599, "token_type":"Bearer","id_token":"s3cret"\n}'
    clean, marks = redact_answer(answer)
    assert clean == (
        b'{\n "access_token": "[redacted]",\n "expires_in": 3599, "token_type":"Bearer","id_token":"[redacted]"\n}'
    )
    assert marks == ["body:access_token", "body:id_token"]


@pytest.mark.parametrize(
    "answer",
    [
        b'{"choices":[{"input":{"access_token":"a","token_type":"b"}}]}',
        b'{"access_token":"a"}',
        b'[{"access_token":"a","token_type":"b"}]',
        b'"access_token" "token_type"',
        b"",
    ],
)
def test_what_a_model_says_of_tokens_stays(answer: bytes) -> None:
    assert redact_answer(answer) == (answer, [])


@pytest.mark.parametrize(
    ("url", "clean", "marks"),
    [
        ("https://h/v1/chat", "https://h/v1/chat", []),
        ("https://h/v1?alt=sse&key=AIza", "https://h/v1?alt=sse&key=[redacted]", ["query:key"]),
        ("https://h/v1?API_KEY=a&b=2", "https://h/v1?API_KEY=[redacted]&b=2", ["query:API_KEY"]),
        ("https://h/?api%5Fkey=a", "https://h/?api%5Fkey=[redacted]", ["query:api_key"]),
        ("https://h/?access_token=a=b", "https://h/?access_token=[redacted]", ["query:access_token"]),
        ("https://h/?X-Amz-Signature=a", "https://h/?X-Amz-Signature=[redacted]", ["query:X-Amz-Signature"]),
        (
            "https://h/?upload_id=a&oauth_token=b",
            "https://h/?upload_id=[redacted]&oauth_token=[redacted]",
            ["query:upload_id", "query:oauth_token"],
        ),
        ("https://h/?client_assertion=a", "https://h/?client_assertion=[redacted]", ["query:client_assertion"]),
        ("https://h/?next_token=2&max_tokens=3", "https://h/?next_token=2&max_tokens=3", []),
        ("https://h/#token=a", "https://h/#token=[redacted]", ["query:token"]),
        ("https://me:pw@h/p@q?x=1", "https://[redacted]@h/p@q?x=1", ["url:userinfo"]),
        ("https://h/p?pageToken=2&q=a%20b&key=", "https://h/p?pageToken=2&q=a%20b&key=", []),
        ("", "", []),
    ],
)
def test_secrets_in_a_url_are_replaced_and_the_rest_stays_as_it_is(url: str, clean: str, marks: list[str]) -> None:
    assert redact_url(url) == (clean, marks)
