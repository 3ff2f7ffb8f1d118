"""`docs/findings.md` has a row for every rule that the source can tell, with its severity, and for no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
ROWS = ROW.findall((REPOSITORY / "docs" / "findings.md").read_text("utf-8"))
TREES = [ast.parse(path.read_text("utf-8")) for path in sorted((REPOSITORY / "recorder").rglob("*.py"))]
SEVERITIES = ("info", "warning", "error")
HANDED_ON = {"rule", "finding.rule", "found.rule"}
"""Expressions that hand on a rule which another place has told."""
Told = tuple[ast.expr, ast.expr | None]
"""A rule and its severity, None where it is the default."""


def told(node: ast.AST) -> Iterator[Told]:
    """The ways in which the source tells a finding."""
    if isinstance(node, ast.Call):
        by_name = {keyword.arg: keyword.value for keyword in node.keywords}
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if function in ("finding", "found") and len(node.args) > 2:
            place = 3 if function == "finding" else 2
            severity = node.args[place] if len(node.args) > place else None
            if function == "finding" or len(node.args) > 3:
                yield node.args[1], by_name.get("severity", severity)
        elif "rule" in by_name:
            yield by_name["rule"], by_name.get("severity")
    elif isinstance(node, ast.Tuple) and len(node.elts) == 3 and text(node.elts[1]) in SEVERITIES:
        # Not the tuple of all severities, nor a run's status that is `error`.
        if text(node.elts[0]) not in (None, *SEVERITIES):
            yield node.elts[0], node.elts[1]
    elif isinstance(node, ast.Dict):
        by_key = {text(key): value for key, value in zip(node.keys, node.values, strict=True)}
        if "rule" in by_key:
            yield by_key["rule"], by_key.get("severity")


def text(node: ast.expr | None) -> str | None:
    """The string that an expression is, by itself or by the name of a constant."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return CONSTANTS.get(node.id) if isinstance(node, ast.Name) else None


CONSTANTS = {
    target.id: node.value.value
    for tree in TREES
    for node in tree.body
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    for target in node.targets
    if isinstance(target, ast.Name)
}
TOLD = [each for tree in TREES for node in ast.walk(tree) for each in told(node)]


def test_every_rule_is_documented_and_every_row_is_a_rule() -> None:
    rules = {rule for node, _ in TOLD if (rule := text(node))}
    assert {row[0] for row in ROWS} == rules
    assert len(ROWS) == len(rules), "a rule has two rows"


def test_no_rule_is_told_in_a_way_that_this_test_cannot_read() -> None:
    assert {ast.unparse(node) for node, _ in TOLD if text(node) is None} <= HANDED_ON


def test_every_text_like_a_rule_in_a_row_of_the_dialects_is_one() -> None:
    linked = set(re.findall(r"finding `([a-z-]+)`", (REPOSITORY / "docs" / "dialects.md").read_text("utf-8")))
    assert linked
    assert linked <= {row[0] for row in ROWS}


def test_severities_are_those_of_the_source() -> None:
    documented = {row[0]: row[1] for row in ROWS}
    for node, severity in TOLD:
        rule = text(node)
        said = "info" if severity is None else text(severity)
        if rule is not None and said is not None:
            assert said in documented[rule], rule


def test_a_row_has_a_severity_that_there_is() -> None:
    assert {row[1].partition(";")[0] for row in ROWS} == set(SEVERITIES)
