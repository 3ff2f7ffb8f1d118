"""Which of the providers' reasons for stopping mean that the output was cut off."""

from __future__ import annotations

_TRUNCATING = frozenset(
    {
        "length",
        "max_tokens",
        "model_length",
        "model_context_window_exceeded",
        "max_output_tokens",
        "incomplete",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "sensitive",
        "refusal",
        "safety",
        "recitation",
        "malformed_function_call",
        "error",
        "error_limit",
        "error_toxic",
        "network_error",
        "insufficient_system_resource",
        "abort",
        "cancelled",
        "timeout",
    }
)


def is_truncating(reason: str) -> bool:
    """Whether a finish reason (of OpenAI's wire and its speakers, of Anthropic, of LangChain's) means a cut-off answer.

    Reasons are compared without regard to case: Gemini's come in capitals through gateways.
    """
    return reason.lower() in _TRUNCATING
