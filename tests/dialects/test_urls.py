from __future__ import annotations

import pytest

from recorder.dialects import dialect_of_url


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai.chat"),
        ("https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21", "openai.chat"),
        ("http://localhost:11434/v1/chat/completions/", "openai.chat"),
        ("https://api.openai.com/v1/responses", "openai.responses"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic.messages"),
        ("https://h/v1/projects/p/publishers/anthropic/models/m:streamRawPredict", "anthropic.messages"),
        ("https://api.anthropic.com/v1/messages/count_tokens", None),
        ("https://h/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse", "gemini"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse-stream", "bedrock.converse"),
        ("https://h/model/a.b-v1%3A0/invoke-with-response-stream", "bedrock.invoke"),
        ("https://api.cohere.com/v2/chat", "cohere.v2"),
        ("https://api.cohere.com/v1/chat", "cohere.v1"),
        ("https://chat.example/v1/chat", None),
        ("http://localhost:11434/api/chat", "ollama.chat"),
        ("https://example.com/", None),
        ("http://[broken", None),
        ("", None),
    ],
)
def test_an_api_is_known_by_its_path(url: str, dialect: str | None) -> None:
    assert dialect_of_url(url) == dialect
