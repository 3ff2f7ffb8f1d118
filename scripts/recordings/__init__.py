"""What `scripts/make_recordings` makes: a function a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version

from recordings import (
    agent,
    bedrock,
    cassette,
    cohere,
    completions,
    gemini,
    har,
    langchain_js,
    langchain_streams,
    mistakes,
    ollama,
    realtime,
    responses,
    seed003,
    wire,
    xai,
)

FILES: dict[str, Callable[[], bytes]] = {
    "seed003.sse": seed003.sse,
    "seed003.jsonl": seed003.jsonl,
    "weather.sse": wire.weather,
    "thinking.sse": wire.thinking,
    "truncated.sse": wire.truncated,
    "responses.sse": responses.agent,
    "converse.bin": bedrock.converse,
    "invoke.bin": bedrock.invoke,
    "completions.sse": completions.text,
    "realtime.jsonl": realtime.session,
    "gemini.sse": gemini.calls,
    "gemini-array.json": gemini.array,
    "gemini-live.jsonl": gemini.live,
    "gemini-interaction.sse": gemini.interaction,
    "cohere.sse": cohere.v2,
    "cohere-v1.jsonl": cohere.v1,
    "ollama.jsonl": ollama.chat,
    "xai.jsonl": xai.agent,
    "agent.jsonl": agent.jsonl,
    "agent-v1.jsonl": langchain_streams.agent_v1,
    "agent-v3.jsonl": langchain_streams.agent_v3,
    "agent-modes.jsonl": langchain_streams.agent_modes,
    "model-v3.jsonl": langchain_streams.model_v3,
    "mistakes.jsonl": mistakes.jsonl,
    "weather-agent.yaml": cassette.yaml,
    "browser.har": har.browser,
    "weather-js.sse": langchain_js.sse,
}

LIBRARIES = ("langchain-core", "langgraph", "langgraph-prebuilt", "openai", "vcrpy", "PyYAML")


def made_with() -> bytes:
    """The versions of the libraries that had a hand in the bytes: JSON, name → version."""
    return (json.dumps({name: version(name) for name in LIBRARIES}, indent=2) + "\n").encode()
