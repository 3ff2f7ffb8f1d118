"""Calls of every kind: what they call with what, who runs them, what came back, and what each reading shows of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dialects.responses import (
    CREATED,
    added,
    arguments,
    blocks,
    call,
    calls,
    done,
    ended,
    event,
    message,
    rules,
    state,
    text,
)

CUSTOM = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c1", "name": "sql", "input": ""}
PATCH = {"type": "apply_patch_call", "id": "ap_1", "call_id": "c1"}
SHELL = {"type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": [], "timeout_ms": None}}


def sql(*pieces: str) -> list[dict[str, Any]]:
    return [event("custom_tool_call_input.delta", 0, "ct_1", delta=piece) for piece in pieces]


def diff(*pieces: str) -> list[dict[str, Any]]:
    return [event("apply_patch_call_operation_diff.delta", 0, "ap_1", delta=piece) for piece in pieces]


def shell(step: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return event(f"shell_call_command.{step}", 0, command_index=index, **fields)


# Arguments that are JSON text


def test_a_call_is_complete_when_its_response_is_and_not_before() -> None:
    whole = call("c1", '{"x":1}')
    frames = [CREATED, added(0, call("c1")), *arguments(0, "c1", '{"x"', ":1}"), done(0, whole), ended(whole)]
    states = [calls(*frames, n=n)[0][2:] for n in range(2, 7)]
    assert states == [("", "open"), ('{"x"', "open"), *[('{"x":1}', "open")] * 2, ('{"x":1}', "complete")]


@pytest.mark.parametrize("kind", ["incomplete", "failed", "cancelled"])
def test_calls_of_a_response_that_is_cut_off_are_truncated_however_whole(kind: str) -> None:
    whole = call("c1", '{"x":1}')
    assert calls(CREATED, added(0, call("c1")), done(0, whole), ended(whole, kind=kind)) == [
        ("c1", "get", '{"x":1}', "truncated")
    ]


def test_a_call_that_is_said_to_be_incomplete_truncates_its_message() -> None:
    half = call("c1", '{"x":1}', status="incomplete")
    assert calls(CREATED, added(0, call("c1")), done(0, half), ended(half))[0][3] == "truncated"
    # Not so a message: its text may be cut off, the calls beside it are whole.
    cut = {**message("hi"), "status": "incomplete"}
    assert calls(CREATED, done(0, call("c1", '{"x":1}')), done(1, cut), ended())[0][3] == "complete"


def test_arguments_that_are_only_said_at_the_end_are_taken() -> None:
    finish = event("function_call_arguments.done", 0, "fc_c1", arguments='{"x":1}')
    for last in (finish, done(0, call("c1", '{"x":1}')), ended(call("c1", '{"x":1}'))):
        assert calls(CREATED, added(0, call("c1")), last)[0][2] == '{"x":1}'


@pytest.mark.parametrize("spelled", ['{"x": 2}', '{"x":1'])
def test_arguments_that_are_said_again_otherwise_are_a_finding_and_not_appended(spelled: str) -> None:
    finish = event("function_call_arguments.done", 0, "fc_c1", arguments=spelled)
    whole = call("c1", spelled)
    frames = [CREATED, added(0, call("c1")), *arguments(0, "c1", '{"x":1}'), finish, done(0, whole), ended(whole)]
    assert calls(*frames) == [("c1", "get", '{"x":1}', "complete")]
    assert rules(*frames) == ["restatement-differs"]


def test_arguments_in_another_spelling_are_the_same() -> None:
    frames = [CREATED, added(0, call("c1")), *arguments(0, "c1", '{"x":1}'), done(0, call("c1", '{ "x": 1 }'))]
    assert rules(*frames) == []


def test_what_confirms_a_call_adds_no_chunk_to_it() -> None:
    whole = call("c1", '{"x":1}')
    frames = [CREATED, added(0, call("c1")), *arguments(0, "c1", '{"x":1}'), done(0, whole), ended(whole)]
    (found,) = state(*frames)["messages"][0]["calls"]
    assert found["seqs"] == [[2, 3]]


def test_padding_and_missing_numbers_change_nothing() -> None:
    padded = [{**frame, "obfuscation": "xyz", "sequence_number": 7} for frame in arguments(0, "c1", "{}")]
    assert calls(CREATED, added(0, call("c1")), *padded, ended())[0][2:] == ("{}", "complete")


def test_what_else_an_item_says_stands_in_its_block() -> None:
    whole = call("c1", "{}", namespace="weather", caller={"type": "program"})
    (block,) = blocks(CREATED, added(0, call("c1")), done(0, whole))
    assert block["item_id"] == "fc_c1"
    assert (block["namespace"], block["caller"], block["status"]) == ("weather", {"type": "program"}, "completed")


# Arguments that are text as it is


def test_the_input_of_a_custom_tool_is_text_and_complete_when_the_response_is() -> None:
    whole = {**CUSTOM, "input": "SELECT 1"}
    frames = [CREATED, added(0, CUSTOM), *sql("SELECT", " 1"), done(0, whole), ended(whole)]
    assert [calls(*frames, n=n)[0][2:] for n in (3, 4, 5)] == [("SELECT", "open"), *[("SELECT 1", "open")] * 2]
    assert calls(*frames) == [("c1", "sql", "SELECT 1", "complete")]
    (found,) = state(*frames)["messages"]
    assert (found["calls"][0]["value"], found["calls"][0]["free_text"]) == ("SELECT 1", True)
    assert rules(*frames) == []


@pytest.mark.parametrize("input", ["{}", '{"a":1}{"b":2}', "null", '"x"', "12"])
def test_text_that_looks_like_json_is_text_all_the_same(input: str) -> None:
    frames = [CREATED, added(0, CUSTOM), *sql(input, "!"), done(0, {**CUSTOM, "input": f"{input}!"}), ended()]
    assert calls(*frames) == [("c1", "sql", f"{input}!", "complete")]
    assert rules(*frames) == []


def test_text_that_is_said_again_otherwise_is_a_finding() -> None:
    frames = [CREATED, added(0, CUSTOM), *sql("SELECT 1"), done(0, {**CUSTOM, "input": "SELECT 2"})]
    assert (calls(*frames)[0][2], rules(*frames)) == ("SELECT 1", ["restatement-differs"])


def test_a_cut_off_custom_call_is_truncated_and_one_without_a_word_is_empty() -> None:
    assert calls(CREATED, added(0, CUSTOM), *sql("SEL"), ended(kind="incomplete"))[0][3] == "truncated"
    assert calls(CREATED, added(0, CUSTOM), done(0, CUSTOM), ended())[0][3] == "empty"


def test_langchain_has_a_custom_call_once_it_is_done_and_reads_nothing_that_is_said_again() -> None:
    """As langchain-openai streams them: `__arg1` for the input, and for a function call what its deltas brought."""
    whole = {**CUSTOM, "input": "SELECT 1"}
    frames = [CREATED, added(0, CUSTOM), *sql("SELECT", " 1"), done(0, whole), added(1, call("c2"))]
    frames += [done(1, call("c2", '{"x":1}')), ended(whole, call("c2", '{"x":1}'))]
    before, after = (state(*frames, n=n, gathering="langchain")["messages"][0] for n in (4, None))
    assert before["tool_calls"] == []
    assert [(each["id"], each["args"]) for each in after["tool_calls"]] == [("c1", {"__arg1": "SELECT 1"}), ("c2", {})]
    assert [each["args"] for each in after["tool_call_chunks"]] == ['{"__arg1": "SELECT 1"}', ""]
    assert after["invalid_tool_calls"] == []


def test_the_wire_shows_a_custom_call_as_langchain_would_at_every_event() -> None:
    (found,) = state(CREATED, added(0, CUSTOM), *sql("SEL"))["messages"]
    assert [(each["name"], each["args"]) for each in found["tool_calls"]] == [("sql", {"__arg1": "SEL"})]
    assert found["tool_call_chunks"][0]["args"] == "SEL"


# Arguments that are objects


def test_a_patch_grows_as_the_json_of_its_operation() -> None:
    begun, whole = (
        {"type": "create_file", "diff": "", "path": "a"},
        {"type": "create_file", "diff": '+"x"\n', "path": "a"},
    )
    frames = [CREATED, added(0, {**PATCH, "operation": begun}), *diff('+"', 'x"\n')]
    assert state(*frames)["messages"][0]["calls"][0]["value"] == whole
    frames += [event("apply_patch_call_operation_diff.done", 0, "ap_1", diff='+"x"\n')]
    frames += [done(0, {**PATCH, "operation": whole}), ended({**PATCH, "operation": whole})]
    assert calls(*frames) == [
        ("c1", "apply_patch", '{"type":"create_file","path":"a","diff":"+\\"x\\"\\n"}', "complete")
    ]
    assert rules(*frames) == []


@pytest.mark.parametrize(
    "operation",
    [{"type": "delete_file", "path": "a"}, {"type": "create_file", "path": "a", "diff": "+x"}, {"diff": "+x"}],
)
def test_a_patch_whose_diff_was_not_streamed_is_whole_with_its_item(operation: dict[str, Any]) -> None:
    begun = {key: "" if key == "diff" else value for key, value in operation.items()}
    frames = [CREATED, added(0, {**PATCH, "operation": begun}), done(0, {**PATCH, "operation": operation}), ended()]
    (found,) = state(*frames)["messages"][0]["calls"]
    assert (found["value"], found["state"]) == (operation, "complete")
    assert rules(*frames) == []


def test_the_commands_of_a_shell_grow_as_the_json_of_its_action() -> None:
    action = {"commands": ['echo "a"', "ls"], "timeout_ms": 9}
    frames = [
        CREATED,
        added(0, SHELL),
        shell("added", command=""),
        shell("delta", delta="echo"),
        shell("delta", delta=' "a"'),
    ]
    assert state(*frames)["messages"][0]["calls"][0]["value"] == {"commands": ['echo "a"']}
    frames += [shell("done", command='echo "a"'), shell("added", 1, command="l"), shell("delta", 1, delta="s")]
    frames += [shell("done", 1, command="ls"), done(0, {**SHELL, "action": action}), ended()]
    (found,) = state(*frames)["messages"][0]["calls"]
    assert (found["name"], found["value"], found["state"]) == ("shell", action, "complete")
    assert rules(*frames) == []


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [shell("done", command="ls")],
        [shell("added", command=""), shell("done", command="ls")],
        [shell("delta", delta="l"), shell("delta", delta="s")],
    ],
)
def test_a_shell_whose_commands_came_with_few_events_is_whole_all_the_same(pieces: list[dict[str, Any]]) -> None:
    frames = [CREATED, added(0, SHELL), *pieces, done(0, {**SHELL, "action": {"commands": ["ls"]}}), ended()]
    assert calls(*frames) == [("c1", "shell", '{"commands":["ls"]}', "complete")]
    assert rules(*frames) == []


def test_commands_that_come_side_by_side_are_never_a_whole_call() -> None:
    both = [shell("added", 0, command="a"), shell("added", 1, command="b"), shell("delta", 0, delta="c")]
    frames = [CREATED, added(0, SHELL), *both, done(0, {**SHELL, "action": {"commands": ["ac", "b"]}}), ended()]
    assert calls(*frames)[0][3] == "invalid"
    assert rules(*frames) == ["restatement-differs"]


# Who runs it, and what came back


@pytest.mark.parametrize(
    ("item", "id", "name", "args", "executor"),
    [
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, "c", "f", "{}", "client"),
        (
            {"type": "computer_call", "call_id": "c", "action": {"type": "wait"}},
            "c",
            "computer",
            '{"type":"wait"}',
            "local",
        ),
        ({"type": "computer_call", "call_id": "c", "actions": [1]}, "c", "computer", '{"actions":[1]}', "local"),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"env": {}}},
            "c",
            "local_shell",
            '{"env":{}}',
            "local",
        ),
        ({**SHELL, "action": {"a": 1}}, "c1", "shell", '{"a":1}', "local"),
        ({**SHELL, "action": {"a": 1}, "environment": {"type": "local"}}, "c1", "shell", '{"a":1}', "local"),
        (
            {**SHELL, "action": {"a": 1}, "environment": {"type": "container_reference"}},
            "c1",
            "shell",
            '{"a":1}',
            "server",
        ),
        (
            {"type": "tool_search_call", "call_id": "c", "arguments": {"q": 1}, "execution": "client"},
            "c",
            "tool_search",
            '{"q":1}',
            "local",
        ),
        (
            {"type": "tool_search_call", "id": "ts", "call_id": None, "arguments": {"q": 1}},
            "ts",
            "tool_search",
            '{"q":1}',
            "server",
        ),
        ({"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}"}, "m", "f", "{}", "local"),
        ({"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}"}, "m", "f", "{}", "server"),
        (
            {"type": "mcp_list_tools", "id": "m", "server_label": "l"},
            "m",
            "mcp_list_tools",
            '{"server_label":"l"}',
            "server",
        ),
        (
            {"type": "web_search_call", "id": "w", "action": {"query": "q"}},
            "w",
            "web_search",
            '{"query":"q"}',
            "server",
        ),
        (
            {"type": "web_search_call", "id": "w", "call_id": "", "name": "web_search", "arguments": '{"query":"q"}'},
            "w",
            "web_search",
            '{"query":"q"}',
            "server",
        ),
        ({"type": "file_search_call", "id": "f", "queries": ["q"]}, "f", "file_search", '{"queries":["q"]}', "server"),
        ({"type": "code_interpreter_call", "id": "k", "code": "1+1"}, "k", "code_interpreter", "1+1", "server"),
        (
            {"type": "image_generation_call", "id": "i", "revised_prompt": "a frog"},
            "i",
            "image_generation",
            '{"revised_prompt":"a frog"}',
            "server",
        ),
        ({"type": "program", "id": "p", "call_id": "c", "code": "f()"}, "c", "program", "f()", "server"),
        ({"type": "riddle_call", "id": "r", "arguments": '{"q":1}'}, "r", "riddle", '{"q":1}', "server"),
    ],
)
def test_calls_by_kind(item: dict[str, Any], id: str, name: str, args: str, executor: str) -> None:
    for frames in ([added(0, item), done(0, item), ended(item)], [done(0, item), ended()], [ended(item)]):
        (found,) = state(CREATED, *frames)["messages"][0]["calls"]
        assert (found["id"], found["name"], found["raw"], found["executor"]) == (id, name, args, executor)
        assert found["state"] == "complete"


def test_only_the_applications_own_tools_are_langchains_tool_calls() -> None:
    items = [
        call("c1", "{}"),
        {**PATCH, "operation": {"path": "a"}},
        {"type": "web_search_call", "id": "w", "action": {}},
    ]
    (found,) = state(CREATED, ended(*items))["messages"]
    assert [each["id"] for each in found["tool_calls"]] == ["c1"]
    assert len(found["calls"]) == 3


def test_an_object_that_is_announced_is_no_argument_yet() -> None:
    item = {"type": "web_search_call", "id": "w", "action": {"type": "search"}}
    frames = [CREATED, added(0, item), done(0, {**item, "action": {"type": "search", "query": "q"}}), ended()]
    assert [calls(*frames, n=n)[0][2] for n in (2, 4)] == ["", '{"type":"search","query":"q"}']
    assert rules(*frames) == []


def test_code_grows_as_text() -> None:
    item = {"type": "code_interpreter_call", "id": "k", "code": ""}
    pieces = [event("code_interpreter_call_code.delta", 0, "k", delta=piece) for piece in ("print(", "1)")]
    frames = [CREATED, added(0, item), *pieces, event("code_interpreter_call_code.done", 0, "k", code="print(1)")]
    frames += [done(0, {**item, "code": "print(1)", "outputs": [{"logs": "1"}]}), ended()]
    assert calls(*frames) == [("k", "code_interpreter", "print(1)", "complete")]
    assert [(each["tool_call_id"], each["content"]) for each in state(*frames)["tool_messages"]] == [
        ("k", [{"logs": "1"}])
    ]
    assert rules(*frames) == []


MCP = {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": None, "error": None}


@pytest.mark.parametrize(
    ("item", "content", "status"),
    [
        ({**MCP, "output": "ok"}, "ok", "success"),
        ({**MCP, "error": {"message": "no"}}, {"message": "no"}, "error"),
        ({**MCP, "output": "half", "status": "failed"}, "half", "error"),
        ({"type": "mcp_list_tools", "id": "m", "tools": [{"name": "f"}]}, [{"name": "f"}], "success"),
        ({"type": "mcp_list_tools", "id": "m", "tools": [], "error": "no"}, "no", "error"),
        ({"type": "file_search_call", "id": "m", "queries": [], "results": [{"score": 1}]}, [{"score": 1}], "success"),
        ({"type": "image_generation_call", "id": "m", "result": "AA=="}, "AA==", "success"),
    ],
)
def test_what_a_call_of_the_providers_brought_is_told_once(item: dict[str, Any], content: Any, status: str) -> None:
    frames = [CREATED, done(0, item), ended(item)]
    (answer,) = state(*frames)["tool_messages"]
    assert (answer["tool_call_id"], answer["content"], answer["status"]) == ("m", content, status)
    assert answer["executor"] == "server"
    (pairing,) = state(*frames)["pairings"]
    assert pairing["status"] == ("answered" if status == "success" else "error")


def test_a_call_that_failed_without_a_word_has_failed() -> None:
    item = {"type": "web_search_call", "id": "w", "status": "failed"}
    (pairing,) = state(CREATED, done(0, item), ended(item))["pairings"]
    assert pairing["status"] == "failed"


def test_answers_within_the_response_are_blocks_and_pair_with_their_calls() -> None:
    shell_call = {**SHELL, "environment": {"type": "container_auto"}, "action": {"commands": ["ls"]}}
    output = {"type": "shell_call_output", "id": "so", "call_id": "c1", "output": []}
    search = {"type": "tool_search_call", "id": "ts", "call_id": None, "arguments": {}, "execution": "server"}
    found = {"type": "tool_search_output", "id": "tso", "call_id": None, "tools": [{"name": "f"}]}
    frames = [CREATED, done(0, shell_call), added(1, output)]
    frames += [event("shell_call_output_content.delta", 1, "so", command_index=0, delta={"stdout": "a\n"})]
    frames += [done(1, {**output, "output": [{"stdout": "a\n"}]}), done(2, search), done(3, found), ended()]
    held = state(*frames)
    assert [(row["call_id"], row["status"]) for row in held["pairings"]] == [("c1", "answered"), ("ts", "answered")]
    (block,) = (each for each in held["messages"][0]["blocks"] if each["type"] == "shell_call_output")
    assert (block["stdout"], block["output"]) == ("a\n", [{"stdout": "a\n"}])


def test_text_beside_calls_is_the_messages_text() -> None:
    frames = [CREATED, added(0, message()), *text(0, "so"), done(1, call("c1", "{}")), ended()]
    assert state(*frames)["messages"][0]["text"] == "so"
