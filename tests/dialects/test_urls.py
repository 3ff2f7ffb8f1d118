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
        ("https://api.openai.com/v1/responses/resp_1?stream=true&starting_after=4", "openai.responses"),
        ("https://api.anthropic.com/v1/messages?beta=true", "anthropic.messages"),
        ("https://h/v1/projects/p/publishers/anthropic/models/m:streamRawPredict", "anthropic.messages"),
        ("https://api.anthropic.com/v1/messages/count_tokens", None),
        ("https://h/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse", "gemini"),
        ("wss://h/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x", "gemini.live"),
        ("wss://h/ws/google.cloud.aiplatform.v1.LlmBidiService/BidiGenerateContent", "gemini.live"),
        ("https://h/v1beta/interactions?alt=sse", "gemini.interactions"),
        ("https://bedrock-runtime.us-east-1.amazonaws.com/model/a.b-v1%3A0/converse-stream", "bedrock.converse"),
        ("https://h/model/a.b-v1%3A0/invoke-with-response-stream", "bedrock.invoke"),
        ("https://api.cohere.com/v2/chat", "cohere.v2"),
        ("https://api.cohere.com/v1/chat", "cohere.v1"),
        ("https://api.cohere.ai/v1/chat", "cohere.v1"),
        ("https://chat.example/v1/chat", None),
        ("http://localhost:11434/api/generate", "ollama.chat"),
        ("http://localhost:8000/v1/completions", "openai.completions"),
        ("https://api.x.ai/xai_api.Chat/GetCompletionChunk", "xai.grpc"),
        ("wss://api.openai.com/v1/realtime?model=m", "openai.realtime"),
        ("http://localhost:11434/api/chat", "ollama.chat"),
        ("https://example.com/", None),
        ("http://[broken", None),
        ("", None),
    ],
)
def test_an_api_is_known_by_its_path(url: str, dialect: str | None) -> None:
    assert dialect_of_url(url) == dialect
