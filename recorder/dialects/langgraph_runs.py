"""The runs that LangGraph streams tell of: tasks of nodes, tools, subgraphs.

A task's id is its run's. A tool's run is named after the call's id, for no other id is given; a second call of that id
is another run. What a subgraph runs in is the task that called it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import Failure, RunEnded, RunKind, RunStarted, ToolFailed, ToolMessage
from recorder.dialects.frames import Deltas
from recorder.dialects.http import error_text
from recorder.dialects.langchain_walk import answers_of_tool
from recorder.dialects.langgraph_messages import MOST_REMEMBERED, drop_oldest
from recorder.dialects.langgraph_parts import Part, task_of
from recorder.dialects.values import cleaned, dict_of, text_of

_STAGES = {
    "tool-started": "start",
    "tool-finished": "end",
    "tool-error": "error",
    "tool-output-delta": "delta",
    "on_tool_start": "start",
    "on_tool_end": "end",
    "on_tool_error": "error",
    "on_tool_event": "delta",
}
"""Python's names and those of JavaScript's `tools` mode."""


class Runs(Struct):
    """The runs that are open, and what must be known of those that ended lately."""

    tasks: dict[str, bool] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    """The run of each open tool call, by the call's id."""
    ended: dict[str, int] = field(default_factory=dict)
    """How many runs of a name have ended, by name; the oldest first."""
    told: dict[str, int] = field(default_factory=dict)
    """How many answers to a call came with its tool's end, and not yet as a message of the graph."""

    def takes_told(self, call_id: str | None) -> bool:
        """Whether an answer to the call was told already; it is expected no more then."""
        left = self.told.pop(call_id, 0) if call_id is not None else 0
        if left > 1 and call_id is not None:
            self.told[call_id] = left - 1
        return left > 0

    def end(self, name: str) -> None:
        self.ended[name] = self.ended.pop(name, 0) + 1
        drop_oldest(self.ended, MOST_REMEMBERED)


def parent_of(part: Part) -> str | None:
    """The task that runs the graph which speaks; None for the root."""
    return task_of(part.namespace[-1]) if part.namespace else None


def task_started(runs: Runs, part: Part, task: dict[str, Any], path: str, out: Deltas) -> None:
    """A node begins: `{"id", "name", "input", "triggers"}`, which stand at `path` in the event's body."""
    id = cleaned(task.get("id"))
    if not id or id in runs.tasks or id in runs.ended:
        return
    runs.tasks[id] = True
    metadata = dict_of(task.get("metadata")) or None
    input = f"{path}.input" if "input" in task else None
    out.append(
        RunStarted(
            run_id=id,
            kind="chain",
            name=cleaned(task.get("name")),
            parent_run_id=parent_of(part),
            metadata=metadata,
            input=input,
        )
    )


def task_ended(runs: Runs, task: dict[str, Any], path: str, out: Deltas) -> None:
    """A node ended: `{"id", "name", "error", "result", "interrupts"}`."""
    id = cleaned(task.get("id"))
    if id and (runs.tasks.pop(id, False) or id not in runs.ended):
        runs.end(id)
        error = error_text(task["error"]) if task.get("error") else None
        out.append(_ended(id, "chain", error, f"{path}.result" if "result" in task else None))


def read_tool(runs: Runs, part: Part, data: dict[str, Any], out: Deltas) -> bool:
    """An event of the `tools` channel; false where it is none."""
    stage = _STAGES.get(text_of(data.get("event")) or "")
    call_id = cleaned(data.get("tool_call_id")) or cleaned(data.get("toolCallId"))
    if stage is None or call_id is None:
        return False
    name = cleaned(data.get("tool_name")) or cleaned(data.get("name"))
    if stage == "start":
        times = runs.ended.get(call_id, 0)
        run_id = runs.tools[call_id] = f"{call_id}#{times + 1}" if times else call_id
        input = f"{part.path}.input" if "input" in data else None
        out.append(RunStarted(run_id=run_id, kind="tool", name=name, parent_run_id=parent_of(part), input=input))
    elif stage != "delta":
        run_id = runs.tools.pop(call_id, call_id)
        if stage == "end":
            _tell_answers(runs, run_id, data.get("output"), out)
            out.append(_ended(run_id, "tool", None, f"{part.path}.output" if "output" in data else None))
        else:
            error = error_text(data.get("message") or data.get("error"))
            out.append(ToolFailed(run_id=run_id, tool_call_id=call_id, name=name, error=error))
            out.append(_ended(run_id, "tool", error))
        runs.end(call_id)
    return True


def lifecycle(runs: Runs, part: Part, data: dict[str, Any], out: Deltas) -> None:
    """A subgraph began or ended. The root's namespace names no task, and is no run: only its failure is told."""
    named = data.get("namespace")
    segments = [cleaned(item) or "" for item in named] if isinstance(named, list) else list(part.namespace)
    id = task_of(segments[-1]) if segments else None
    status = data.get("event")
    if id is None and status == "failed":
        out.append(Failure(run_id="", error=error_text(data.get("error") or status)))
    if id is None or id in runs.ended:
        return
    if status in ("started", "running"):
        if id not in runs.tasks:
            runs.tasks[id] = True
            parent = task_of(segments[-2]) if len(segments) > 1 else None
            name = cleaned(data.get("graph_name"))
            out.append(RunStarted(run_id=id, kind="chain", name=name, parent_run_id=parent))
    elif status in ("completed", "failed", "interrupted", "drained"):
        runs.tasks.pop(id, None)
        runs.end(id)
        failed = status == "failed" or bool(data.get("error"))
        out.append(_ended(id, "chain", error_text(data.get("error") or status) if failed else None))


def _tell_answers(runs: Runs, run_id: str, output: Any, out: Deltas) -> None:
    answers = answers_of_tool(run_id, output)
    for answer in answers:
        if isinstance(answer, ToolMessage) and (call_id := cleaned(answer.tool_call_id)) is not None:
            runs.told[call_id] = runs.told.pop(call_id, 0) + 1
            drop_oldest(runs.told, MOST_REMEMBERED)
    out.extend(answers)


def _ended(run_id: str, kind: RunKind, error: str | None, output: str | None = None) -> RunEnded:
    return RunEnded(run_id=run_id, kind=kind, status="ok" if error is None else "error", error=error, output=output)
