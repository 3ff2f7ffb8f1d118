"""Which of the providers' reasons for stopping mean that the output was cut off."""

from __future__ import annotations

from recorder.deltas import MessageFinished
from recorder.dialects.values import compact

_ABSENT = frozenset({"", "null", "none"})
_TRUNCATING = frozenset(
    {
        # A limit of length, time or money.
        "length",
        "max_length",
        "max_len",
        "max_context",
        "max_tokens",
        "max_new_tokens",
        "max_output_tokens",
        "max_completion_tokens",
        "token_limit",
        "time_limit",
        "model_length",
        "context_length",
        "context_length_exceeded",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "incomplete",
        "not_finished",
        "insufficient_system_resource",
        # A filter.
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "sensitive",
        "refusal",
        "safety",
        "recitation",
        "language",
        "blocklist",
        "prohibited_content",
        "spii",
        "model_armor",
        "image_safety",
        "image_prohibited_content",
        "image_recitation",
        "image_other",
        "no_image",
        "escalation",
        "pup_limited_disabled",
        # A failure.
        "error",
        "error_limit",
        "error_toxic",
        "failed",
        "failure",
        "network_error",
        "malformed_function_call",
        "malformed_model_output",
        "malformed_response",
        "malformed_tool_use",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "missing_thought_signature",
        "continuation",
        "other",
        # Somebody's wish.
        "abort",
        "aborted",
        "cancel",
        "canceled",
        "cancelled",
        "user_cancel",
        "interrupted",
        "timeout",
    }
)
"""`other` is Gemini's word for a stop of which it does not say the reason; its only natural one is `STOP`."""


def reason_of(value: object) -> str | None:
    """A finish reason as it was sent, what is no text as JSON; None where there is none.

    Some servers write the missing reason of a chunk as the text `null` or `none`.
    """
    if value is None:
        return None
    reason = value if isinstance(value, str) else compact(value)
    return None if reason.strip().lower() in _ABSENT else reason


def finish_of(run_id: str, value: object, *, choice: int = 0) -> MessageFinished | None:
    """The end of a message by the reason that the wire gives; None where it gives none (yet).

    For dialects that share these words. One whose provider lists the good reasons instead decides by that list.
    """
    reason = reason_of(value)
    if reason is None:
        return None
    return MessageFinished(run_id=run_id, choice=choice, finish_reason=reason, truncating=is_truncating(reason))


def is_truncating(reason: str) -> bool:
    """Whether a finish reason (of OpenAI's wire and its speakers, of Anthropic, of LangChain's) means a cut-off answer.

    Reasons are compared without regard to case, hyphens and spaces (Gemini's come in capitals through gateways), and
    one that was said in several chunks counts once: adding LangChain's chunks makes `lengthlength` of it.
    """
    return _once(reason.strip().lower().replace("-", "_").replace(" ", "_")) in _TRUNCATING


def _once(text: str) -> str:
    """The shortest text of which this one is a repetition."""
    return text[: (text + text).find(text, 1)] if text else text
