"""Secrets in heads never get past here; everything else does, unchanged."""

from __future__ import annotations

import pytest

from recorder.sources.redact import redact_headers, redact_url


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
    ],
)
def test_other_headers_stay(name: str) -> None:
    assert redact_headers({name: ["v"]}) == ({name: ["v"]}, [])


def test_a_header_that_holds_a_url_is_cleaned_inside() -> None:
    headers, marks = redact_headers({"Location": ["https://h/p?key=s3cret&a=1"]})
    assert headers == {"Location": ["https://h/p?key=[redacted]&a=1"]}
    assert marks == ["header:Location"]


@pytest.mark.parametrize(
    ("url", "clean", "marks"),
    [
        ("https://h/v1/chat", "https://h/v1/chat", []),
        ("https://h/v1?alt=sse&key=AIza", "https://h/v1?alt=sse&key=[redacted]", ["query:key"]),
        ("https://h/v1?API_KEY=a&b=2", "https://h/v1?API_KEY=[redacted]&b=2", ["query:API_KEY"]),
        ("https://h/?api%5Fkey=a", "https://h/?api%5Fkey=[redacted]", ["query:api_key"]),
        ("https://h/?access_token=a=b", "https://h/?access_token=[redacted]", ["query:access_token"]),
        ("https://h/?X-Amz-Signature=a", "https://h/?X-Amz-Signature=[redacted]", ["query:X-Amz-Signature"]),
        ("https://h/#token=a", "https://h/#token=[redacted]", ["query:token"]),
        ("https://me:pw@h/p@q?x=1", "https://[redacted]@h/p@q?x=1", ["url:userinfo"]),
        ("https://h/p?pageToken=2&q=a%20b&key=", "https://h/p?pageToken=2&q=a%20b&key=", []),
        ("", "", []),
    ],
)
def test_secrets_in_a_url_are_replaced_and_the_rest_stays_as_it_is(url: str, clean: str, marks: list[str]) -> None:
    assert redact_url(url) == (clean, marks)
