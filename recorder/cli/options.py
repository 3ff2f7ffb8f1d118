"""The options that verbs share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from recorder.errors import BadInput

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="PATH|URL",
        envvar="REC_DATABASE",
        help="The database. Default: one in the platform's data folder.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document.")]
Nl = Annotated[bool, typer.Option("--nl", help="A JSON object a line.")]
Csv = Annotated[bool, typer.Option("--csv", help="CSV with a header.")]
Table = Annotated[bool, typer.Option("--table", "-t", help="A table (the default).")]
Gather = Annotated[
    str | None,
    typer.Option(
        "--gather",
        metavar="READING",
        help="wire: what the provider meant. langchain, langchainjs: what LangChain makes of it, in Python, in "
        "JavaScript. Default: by the stream.",
        show_default=False,
    ),
]

Format = Literal["human", "json", "nl", "csv"]
Reading = Literal["default", "wire", "langchain", "langchainjs"]


def format_of(json: bool, nl: bool, csv: bool, table: bool) -> Format:
    """The one format that was asked for. Raises `BadInput` for two."""
    chosen = [name for name, given in (("--json", json), ("--nl", nl), ("--csv", csv), ("--table", table)) if given]
    if len(chosen) > 1:
        raise BadInput(f"{' and '.join(chosen)} exclude each other: give one of them")
    return "json" if json else "nl" if nl else "csv" if csv else "human"


def reading_of(gather: str | None) -> Reading:
    """The reading that `--gather` names. Raises `BadInput`."""
    match gather:
        case None | "default":
            return "default"
        case "wire":
            return "wire"
        case "langchain":
            return "langchain"
        case "langchainjs":
            return "langchainjs"
    raise BadInput(f"--gather {gather}: there is no such reading; give wire, langchain or langchainjs")
