"""What `scripts/make_recordings` makes: a function a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version

from recordings import agent, cassette, langchain_js, mistakes, seed003, wire

FILES: dict[str, Callable[[], bytes]] = {
    "seed003.sse": seed003.sse,
    "seed003.jsonl": seed003.jsonl,
    "weather.sse": wire.weather,
    "thinking.sse": wire.thinking,
    "truncated.sse": wire.truncated,
    "agent.jsonl": agent.jsonl,
    "mistakes.jsonl": mistakes.jsonl,
    "weather-agent.yaml": cassette.yaml,
    "weather-js.sse": langchain_js.sse,
}

LIBRARIES = ("langchain-core", "langgraph", "langgraph-prebuilt", "openai", "vcrpy", "PyYAML")


def made_with() -> bytes:
    """The versions of the libraries that had a hand in the bytes: JSON, name → version."""
    return (json.dumps({name: version(name) for name in LIBRARIES}, indent=2) + "\n").encode()
