"""Where the database is, and how its place is shown."""

from __future__ import annotations

import os
import re
from pathlib import Path

VARIABLE = "REC_DATABASE"
FILE = "recorder.db"

_PASSWORD = re.compile(r"(://[^/@:]*:)[^?]*@")
_SECRET_OPTION = re.compile(r"([?&][^=&]*(?:password|secret|token)[^=&]*=)[^&]*", re.IGNORECASE)


def default_database(*, create_folder: bool = True) -> str:
    """`REC_DATABASE`, else a file in the platform's data folder for programs.

    The folder is made only for the default, which nobody named; a folder that somebody did name is theirs to make.
    Raises `OSError` where it cannot be made.
    """
    named = os.environ.get(VARIABLE)
    if named:
        return named
    from platformdirs import user_data_path

    folder: Path = user_data_path("recorder", appauthor=False)
    if create_folder:
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder / FILE)


def shown(database: str | Path) -> str:
    """A path as it is, a URL with its secrets replaced by `***`."""
    text = str(database)
    if "://" not in text:
        return text
    return _SECRET_OPTION.sub(r"\1***", _PASSWORD.sub(r"\1***@", text))
