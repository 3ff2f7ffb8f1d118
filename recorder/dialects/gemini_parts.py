"""The parts of a Gemini answer, in their order: text, thinking, calls, code that was run, media.

Source: Google's API reference, `Part`: exactly one field of a part is its content, the others go with it. Parts of text
that follow each other are one block; a part with a signature is not added to a block that has one already, for each
must be sent back as it came ("Thought signatures" in the Gemini API's documentation).
"""

from __future__ import annotations

from collections.abc import Callable

from recorder.deltas import ToolMessage
from recorder.dialects.gemini_answer import AUDIO, TOOL_CALL, Target
from recorder.dialects.gemini_calls import read_call
from recorder.dialects.gemini_names import named
from recorder.dialects.gemini_tools import result, server_call
from recorder.dialects.values import cleaned, list_of, text_of

_BESIDE = frozenset(
    {
        "audioTranscription",
        "documentMetadata",
        "mediaProcessing",
        "mediaResolution",
        "partMetadata",
        "speechMetadata",
        "spreadsheetMetadata",
        "videoMetadata",
    }
)
"""What goes with a part's content and is kept beside it."""
_MARKS = frozenset({"thought", "thoughtSignature"})


def read_content(target: Target, content: object, where: str) -> None:
    """A `Content`: its parts. Whose they are says the message, not the role that stands in it."""
    if content is None:
        return
    if not isinstance(content, dict):
        target.malformed(where, content)
        return
    parts = content.get("parts")
    if parts is not None and not isinstance(parts, list):
        target.malformed(f"{where}.parts", parts)
    for part in list_of(parts):
        read_part(target, part)


def read_part(target: Target, part: object) -> None:
    """Appends what one part says."""
    if not isinstance(part, dict):
        target.malformed("part", part)
        return
    fields = {name: value for name, value in named(part).items() if value is not None}
    signature = text_of(fields.get("thoughtSignature"))
    contents = [name for name in fields if name in _READERS or name == "text"]
    if not contents:
        # A kind of part that came later than this decoder; where there is none at all, an empty text.
        contents = [name for name in fields if name not in _BESIDE | _MARKS][:1] or ["text"]
    for name in contents:
        if name == "text":
            block = _read_text(target, fields.get("text", ""), signature, thought=fields.get("thought") is True)
        else:
            block = _READERS.get(name, _read_other)(target, name, fields[name])
        if block is None:
            continue
        kind = TOOL_CALL if name == "functionCall" else target.answer.latest
        if signature:
            target.add_item(block, kind, "signature", signature)
            target.answer.signed = target.answer.signed or block == target.block
        for beside in fields:
            if beside in _BESIDE:
                target.add_item(block, kind, beside, fields[beside])


def _read_text(target: Target, text: object, signature: str | None, *, thought: bool) -> int | None:
    """Gives the block that the text belongs to, None where there is nothing to keep."""
    if not isinstance(text, str):
        target.malformed("part.text", text)
        text = ""
    if not (text or signature):
        return None
    kind = "thinking" if thought else "text"
    if target.answer.latest != kind or (signature and target.answer.signed):
        target.open_block(kind)
    target.add_text(target.block, kind, text, kind)
    return target.block


def _read_function_call(target: Target, name: str, value: object) -> int | None:
    del name
    return read_call(target, value)


def _read_server_call(target: Target, name: str, value: object) -> int | None:
    if not isinstance(value, dict):
        target.malformed(f"part.{name}", value)
        return None
    call = server_call(name, named(value))
    block = target.open_block(TOOL_CALL)
    target.add_call(block, target.next_index(), call.args, id=call.id, name=call.name, executor="server")
    return block


def _read_result(target: Target, name: str, value: object) -> int | None:
    if not isinstance(value, dict):
        target.malformed(f"part.{name}", value)
        return None
    block = target.open_block(name, value)
    found = result(name, named(value))
    target.out.append(
        ToolMessage(
            run_id=target.run_id,
            tool_call_id=found.id,
            content=found.content,
            name=found.name,
            status=found.status,
            executor="server",
        )
    )
    return block


def _read_inline_data(target: Target, name: str, value: object) -> int | None:
    """Media; of audio, which comes in hundreds of pieces, only how much there is: the log has the sound."""
    fields = named(value)
    mime, data = cleaned(text_of(fields.get("mimeType"))) or "", fields.get("data")
    if not (mime.startswith("audio/") and isinstance(data, str)):
        return _read_other(target, name, value)
    answer = target.answer
    if answer.latest != AUDIO or answer.audio[0] != mime:
        target.open_block(AUDIO, {"mimeType": mime})
        answer.audio = (mime, 0, 0)
    _, pieces, size = answer.audio
    pieces, size = pieces + 1, size + _decoded_size(data)
    answer.audio = (mime, pieces, size)
    target.add_item(target.block, AUDIO, "pieces", pieces)
    target.add_item(target.block, AUDIO, "bytes", size)
    return target.block


def _read_other(target: Target, name: str, value: object) -> int | None:
    return target.open_block(cleaned(name) or "unknown", value if isinstance(value, dict) else {"content": value})


def _decoded_size(data: str) -> int:
    """How many bytes Base64 text holds."""
    return len(data.rstrip("=")) * 3 // 4


_READERS: dict[str, Callable[[Target, str, object], int | None]] = {
    "executableCode": _read_server_call,
    "toolCall": _read_server_call,
    "codeExecutionResult": _read_result,
    "toolResponse": _read_result,
    "functionCall": _read_function_call,
    "inlineData": _read_inline_data,
    "fileData": _read_other,
}
