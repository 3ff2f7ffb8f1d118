"""Where the real traffic lies that tests may read; it is not part of the project, so they skip where it is absent.

`REC_CORPUS` names the folder; by default it is `shared/corpus` beside the checkout.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(os.environ.get("REC_CORPUS", Path(__file__).parents[2] / "shared" / "corpus"))

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no corpus of real traffic at {CORPUS}")

DIALECTS = {
    "anthropic": "anthropic.messages",
    "bedrock-converse": "bedrock.converse",
    "bedrock-invoke": "bedrock.invoke",
    "cohere-v1": "cohere.v1",
    "cohere-v2": "cohere.v2",
    "gemini": "gemini",
    "gemini-interactions": "gemini.interactions",
    "gemini-live": "gemini.live",
    "ollama-chat": "ollama.chat",
    "openai-chat": "openai.chat",
    "openai-completions": "openai.completions",
    "openai-realtime": "openai.realtime",
    "openai-responses": "openai.responses",
    "xai-grpc": "xai.grpc",
}
"""The dialect of each API that the corpus has streams of."""
ARGUMENTS_AS_OBJECTS = frozenset({"ollama-chat", "gemini", "gemini-live"})
"""APIs whose arguments are no text: its spelling is free."""
STREAMS = sorted(path for path in (CORPUS / "streams").glob("*") if not path.name.endswith(".meta.json"))
DUMPS = sorted((CORPUS / "langchain_events").glob("*"))


@cache
def expected(folder: str = ".") -> list[dict[str, Any]]:
    """What is known of each stream of the corpus, or of a folder in it that is laid out alike; nothing without one.

    A row has `stream` (the file's name), `api`, `provider`, `end` (the reason it stopped for) and `calls`.
    """
    path = CORPUS / folder / "expected.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def stream_file(row: dict[str, Any], folder: str = ".") -> Path:
    """The file of a row."""
    return CORPUS / folder / "streams" / str(row["stream"])
