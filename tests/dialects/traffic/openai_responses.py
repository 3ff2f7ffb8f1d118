"""Events and requests with every field that the dialect reads."""

from __future__ import annotations

from typing import Any

DIALECT = "openai.responses"
CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": '{"a":1}', "status": "completed"}
MESSAGE = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "phase": "final_answer",
    "content": [
        {"type": "output_text", "text": "ab", "annotations": [{"type": "url_citation"}]},
        {"type": "refusal", "refusal": "no"},
        {"type": "output_audio", "data": "x"},
    ],
}
REASONING = {
    "type": "reasoning",
    "id": "r",
    "summary": [{"type": "summary_text", "text": "a"}],
    "content": [{"type": "reasoning_text", "text": "b"}],
    "encrypted_content": "x",
}
PATCH = {"type": "apply_patch_call", "id": "p", "call_id": "cp", "operation": {"type": "update_file", "diff": ""}}
SHELL = {"type": "shell_call", "id": "s", "call_id": "cs", "action": {"commands": ["ls"], "timeout_ms": 1}}
OUTPUT = {"type": "shell_call_output", "id": "so", "call_id": "cs", "output": [{"stdout": "a"}]}
MCP = {"type": "mcp_call", "id": "x", "name": "f", "arguments": "{}", "output": "o", "error": None, "server_label": "l"}
SEARCH = {"type": "tool_search_call", "id": "ts", "call_id": None, "arguments": {"q": 1}, "execution": "server"}
FOUND = {"type": "tool_search_output", "call_id": None, "tools": [{"name": "f"}], "status": "completed"}
CODE = {"type": "code_interpreter_call", "id": "ci", "code": "1+1", "outputs": [], "status": "failed"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}}


def _event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


FRAMES: list[Any] = [
    _event("created", response={"id": "resp", "object": "response", "model": "m", "output": [], "usage": None}),
    _event("output_item.added", output_index=0, item={**REASONING, "summary": [], "content": []}),
    _event("reasoning_summary_part.added", item_id="r", output_index=0, summary_index=0, part={"type": "summary_text"}),
    _event("reasoning_summary_text.delta", item_id="r", output_index=0, summary_index=0, delta="a"),
    _event("reasoning_summary_text.done", item_id="r", output_index=0, summary_index=0, text="b"),
    _event("reasoning_text.delta", item_id="r", output_index=0, content_index=0, delta="b"),
    _event("output_item.done", output_index=0, item=REASONING),
    _event("output_item.added", output_index=1, item={**MESSAGE, "content": []}),
    _event(
        "content_part.added", item_id="m", output_index=1, content_index=0, part={"type": "output_text", "text": "a"}
    ),
    _event("output_text.delta", item_id="m", output_index=1, content_index=0, delta="b", logprobs=[]),
    _event("output_text.annotation.added", item_id="m", output_index=1, content_index=0, annotation={"type": "u"}),
    _event("refusal.done", item_id="m", output_index=1, content_index=1, refusal="no"),
    _event("output_item.done", output_index=1, item=MESSAGE),
    _event("output_item.added", output_index=2, item={**CALL, "arguments": ""}),
    _event("function_call_arguments.delta", item_id="fc", output_index=2, delta='{"a":'),
    _event("function_call_arguments.done", item_id="fc", output_index=2, arguments='{"a":2}'),
    _event("output_item.done", output_index=2, item=CALL),
    _event("output_item.added", output_index=3, item=PATCH),
    _event("apply_patch_call_operation_diff.delta", item_id="p", output_index=3, delta="+"),
    _event("apply_patch_call_operation_diff.done", item_id="p", output_index=3, diff="+"),
    _event("output_item.added", output_index=4, item=SHELL),
    _event("shell_call_command.added", output_index=4, command_index=0, command=""),
    _event("shell_call_command.delta", output_index=4, command_index=0, delta="ls"),
    _event("shell_call_command.done", output_index=4, command_index=0, command="ls"),
    _event("output_item.done", output_index=4, item=SHELL),
    _event("shell_call_output_content.delta", item_id="so", output_index=5, delta={"stdout": "a"}),
    _event("output_item.done", output_index=5, item=OUTPUT),
    _event("output_item.done", output_index=6, item=SEARCH),
    _event("output_item.done", output_index=7, item=FOUND),
    _event("code_interpreter_call_code.delta", item_id="ci", output_index=8, delta="1+1"),
    _event("output_item.done", output_index=8, item=CODE),
    _event("mcp_call.in_progress", item_id="x", output_index=9),
    _event("audio.delta", delta="AA"),
    _event("error", error={"code": "c", "message": "m"}),
    _event("incomplete", response={"id": "resp", "status": "incomplete", "incomplete_details": {"reason": "max"}}),
    _event("created", response={"id": "resp2"}),
    _event("completed", response={"id": "resp2", "output": [MESSAGE, CALL, MCP], "usage": USAGE, "error": None}),
    {"object": "response", "id": "resp3", "status": "failed", "error": {"message": "m"}, "output": [MESSAGE, CALL]},
    {"error": {"message": "m"}},
]
REQUESTS: list[Any] = [
    {"input": "hi", "previous_response_id": "resp", "tool_choice": {"type": "allowed_tools", "mode": "required"}},
    {
        "input": [
            {"role": "user", "content": "hi"},
            CALL,
            {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
            MCP,
            SEARCH,
            FOUND,
            {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
            {"type": "local_shell_call_output", "id": "l", "output": "x"},
        ],
        "tool_choice": {"type": "mcp", "server_label": "l", "name": "f"},
    },
]
