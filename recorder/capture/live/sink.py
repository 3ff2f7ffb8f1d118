"""The sink of live capture: a bounded queue, and one thread that writes what is in it.

`put` costs the program a lock and an append. The writer's thread makes events of the items and appends them: when the
oldest has waited for `FLUSH_SECONDS`, or when `FLUSH_EVENTS` wait. While the database is away they go to a spool beside
it, which is taken in when it is back, before anything newer. What can be kept nowhere is counted.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from uuid_utils import uuid7

from recorder.capture.live.intake import free_name
from recorder.capture.live.items import Item
from recorder.capture.live.spool import SUFFIX, Spool, SpoolHead, read_events
from recorder.errors import DatabaseUnusable, RecorderError
from recorder.events import NewEvent
from recorder.events.ids import new_stream_uuid

if TYPE_CHECKING:
    from recorder.ledger import Ledger, StreamWriter

LEDGER = "recorder.ledger"
"""What knows databases: imported when the first events are there."""
FLUSH_SECONDS = 0.1
FLUSH_EVENTS = 256
MOST_ITEMS = 100_000
MOST_BYTES = 64 * 1024 * 1024
"""The queue's bounds, in items and in the bytes that they hold."""
WAIT_SECONDS = 0.05
"""How long `put` waits at most for room in a full queue, before the item is given up."""
RETRY_SECONDS = 1.0
"""How long a database that is away is left alone."""
PATIENCE_SECONDS = 2.0
"""How long the writer waits for a lock or a server before it takes the database for away."""
FORK_SECONDS = 2 * PATIENCE_SECONDS
"""How long a fork waits at most for the writer."""
CLOSE_SECONDS = 5.0
"""How long the end of the program waits for the writer."""
LEAVE_SECONDS = 0.2
"""How long an end that cannot wait does wait for the writer to have read what it has taken."""


_inherited: list[Ledger] = []
"""In a child: what the parent had open when it forked. To close it here could harm the parent's database."""


class Counts(Struct):
    """What became of what was put in."""

    stored: int = 0
    """Events in the database."""
    spooled: int = 0
    """Events that wait in the spool."""
    lost: int = 0
    """Items that could be kept nowhere."""
    failures: int = 0
    """Times that a part of the recorder failed inside the program."""
    reason: str | None = None
    """Why something was lost, spooled or failed: the first reason."""


class Sink:
    """One stream of one process. Make it, `put` items from any thread, `close` it."""

    def __init__(
        self,
        database: str | Path,
        stream: str,
        *,
        spool: Path,
        otherwise: Sequence[Path] = (),
        parent: str | None = None,
    ) -> None:
        """Nothing is opened here: the writer's thread does that with the first events, which make the stream.

        `otherwise`: further places for what the spool cannot take, as where its disk is full.
        """
        self.stream = stream
        self.uuid = new_stream_uuid()
        self.counts = Counts()
        self._database = database
        self._parent = parent
        self._ledger: Ledger | None = None
        self._writer: StreamWriter | None = None
        head = SpoolHead(stream=stream, uuid=self.uuid, parent=parent)
        self._spools = [Spool(path, head) for path in (spool, *otherwise)]
        """In the order of what they hold."""
        self._ends = [Spool(_end_of(path), head) for path in (spool, *otherwise)]
        """For what is left where the process ends before the database has taken it."""
        self._away_until = 0.0
        self._queue: deque[Item] = deque()
        self._bytes = 0
        self._first_at = 0.0
        self._flushes = 0
        """Who waits for everything to be written by now."""
        self._closing = False
        self._busy = False
        self._taken = 0
        """Items that the writer's thread has taken and not written."""
        self._held: list[NewEvent] | None = None
        """What they came to, while it is being written."""
        # Reentrant: a signal's handler flushes, and may have interrupted `put`.
        self._changed = threading.Condition(threading.RLock())
        self._storing = threading.Lock()
        """Held while events are made and written: a fork waits for it."""
        self._between = True
        """Whether the fork that is going on found the writer between two appends."""
        self._thread: threading.Thread | None = None

    @property
    def spool_path(self) -> Path:
        """Where events wait that the database has not taken."""
        return next((spool.path for spool in self._spools if spool.path.exists()), self._spools[0].path)

    @property
    def end_path(self) -> Path:
        """Where those wait for which the process did: they come after the spool's."""
        return next((spool.path for spool in self._ends if spool.path.exists()), self._ends[0].path)

    @property
    def places(self) -> list[Path]:
        """Every place where events may wait, in the order in which they are to be taken in."""
        return [spool.path for spool in (*self._spools, *self._ends)]

    # The program's side

    def put(self, item: Item) -> None:
        """Takes an item. Never raises; waits `WAIT_SECONDS` at most, and only where the queue is full."""
        try:
            with self._changed:
                if self._is_full() and not self._wait_for_room():
                    self._lose(1, "the queue was full: the database is slower than the program")
                    return
                if self._closing:
                    self._lose(1, "it came after the recorder was closed")
                    return
                waiting = len(self._queue)
                if waiting == 0:
                    self._first_at = time.monotonic()
                self._queue.append(item)
                self._bytes += item.size
                if waiting == 0 or waiting + 1 == FLUSH_EVENTS:
                    self._changed.notify_all()
                if self._thread is None:
                    self._start()
        except Exception as error:
            self.failed("put", error)

    def failed(self, where: str, error: BaseException) -> None:
        """Counts a failure of the recorder's own part inside the program. Never raises."""
        self.counts.failures += 1
        self.counts.reason = self.counts.reason or f"{where}: {type(error).__name__}: {error}"

    def flush(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Waits until everything that was put in is written, to the database or the spool; false where it was not."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._flushes += 1
            self._changed.notify_all()
            try:
                while self._queue or self._busy:
                    if not self._changed.wait(deadline - time.monotonic()) or time.monotonic() > deadline:
                        return not (self._queue or self._busy)
            finally:
                self._flushes -= 1
        return True

    def close(self, seconds: float = CLOSE_SECONDS) -> Counts:
        """Writes what is left and ends the thread. What the database does not take by then goes to the spool."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)
        if not self._storing.acquire(timeout=max(0.0, deadline - time.monotonic())):
            self.leave()
            return self.counts
        try:
            if left := self._drained():
                self._keep(self._events_of(left))
            self._take_in(at_last=True)
            self._leave_spools()
            self._drop_ledger()
        finally:
            self._storing.release()
        return self.counts

    def leave(self) -> None:
        """Puts what is not written yet into a spool of its own, without waiting for the database: the process ends now.

        What the writer's thread is writing just now goes there too; where it is written after all, that is seen when
        the spool is taken in.
        """
        with self._changed:
            self._closing = True
            left = self._drained()
        deadline = time.monotonic() + LEAVE_SECONDS
        while self._busy and self._held is None and time.monotonic() < deadline:
            # It is reading its items, which have a state that is its own.
            time.sleep(0.001)
        reason = "the program ended before the database took them"
        if self._busy and self._held is None:
            self._lose(self._taken + len(left), reason)
            return
        events = [*(self._held or ()), *self._events_of(left)]
        if not events:
            return
        kept = self._put_aside(self._ends, events)
        self._leave_ends()
        if not kept:
            return
        self.counts.spooled += len(events)
        self.counts.reason = self.counts.reason or reason

    def _drained(self) -> list[Item]:
        with self._changed:
            left = list(self._queue)
            self._queue.clear()
            self._bytes = 0
            return left

    # Forks: a child has this object and no thread, and must touch neither the parent's database nor its spool.

    def before_fork(self) -> None:
        """Waits for the writer to be between two appends, and gives the database back.

        As a rule that is a matter of milliseconds, while somebody else holds the database of `PATIENCE_SECONDS`; never
        more than `FORK_SECONDS`, for the writer may be waiting for a lock that another library holds for the fork.
        """
        self._between = self._storing.acquire(timeout=FORK_SECONDS)
        self._changed.acquire()
        if self._between:
            self._drop_ledger()

    def after_fork_in_parent(self) -> None:
        """Goes on; the database is opened again with the next append."""
        self._changed.release()
        if self._between:
            self._storing.release()

    def after_fork_in_child(self) -> None:
        """Lets go of the spools, which are the parent's."""
        if self._ledger is not None:
            _inherited.append(self._ledger)
        self._leave_spools()

    def _leave_spools(self) -> None:
        for spool in self._spools:
            spool.leave()

    def _leave_ends(self) -> None:
        for spool in self._ends:
            spool.leave()

    # The writer's side

    def _is_full(self) -> bool:
        return len(self._queue) >= MOST_ITEMS or self._bytes >= MOST_BYTES

    def _wait_for_room(self) -> bool:
        deadline = time.monotonic() + WAIT_SECONDS
        while self._is_full() and not self._closing:
            left = deadline - time.monotonic()
            if left <= 0 or not self._changed.wait(left):
                break
        return not self._is_full()

    def _lose(self, count: int, reason: str) -> None:
        self.counts.lost += count
        self.counts.reason = self.counts.reason or reason

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._wait_until_due():
                    return
                items = [self._queue.popleft() for _ in range(min(len(self._queue), 4 * FLUSH_EVENTS))]
                self._bytes -= sum(item.size for item in items)
                self._first_at = time.monotonic()
                self._busy, self._taken = True, len(items)
            try:
                with self._storing:
                    self._keep(self._events_of(items))
            except Exception as error:
                self.failed("the writer", error)
                self._lose(len(items), f"{type(error).__name__}: {error}")
            finally:
                items.clear()
                with self._changed:
                    self._busy, self._taken = False, 0
                    self._changed.notify_all()

    def _wait_until_due(self) -> bool:
        """Waits for items that are to be written now; false where there are none any more."""
        while True:
            if not self._queue:
                if self._closing:
                    return False
                # While something is spooled the database is looked at now and then, be there news or not.
                if not self._changed.wait(RETRY_SECONDS if self._spool_holds() else None) and self._spool_holds():
                    return True
                continue
            left = self._first_at + FLUSH_SECONDS - time.monotonic()
            if left <= 0 or len(self._queue) >= FLUSH_EVENTS or self._closing or self._flushes:
                return True
            self._changed.wait(left)

    def _events_of(self, items: Iterable[Item]) -> list[NewEvent]:
        events: list[NewEvent] = []
        for item in items:
            try:
                events += item.events(self.uuid, _next_id)
            except Exception as error:
                self.failed("an item", error)
                self._lose(1, f"it could not be read: {type(error).__name__}: {error}")
            # The program may be waiting for the interpreter, which nobody takes from this thread for 5 ms.
            time.sleep(0)
        return events

    def _keep(self, events: list[NewEvent]) -> None:
        """To the database, else to the spool, else it is counted as lost."""
        self._held = events
        try:
            if events and LEDGER not in sys.modules and self._put_aside(self._spools, events):
                # To import it takes a while, in which a program can die.
                self.counts.spooled += len(events)
                self._take_in()
                return
            if (self._take_in() and (not events or self._append(events))) or not events:
                return
            if self._put_aside(self._spools, events):
                self.counts.spooled += len(events)
        except OSError as error:
            self._lose(len(events), f"{self.spool_path} cannot be read: {error.strerror or error}")
        finally:
            self._held = None

    def _spool_holds(self) -> bool:
        return any(spool.holds for spool in self._spools)

    def _put_aside(self, spools: Sequence[Spool], events: list[NewEvent]) -> bool:
        """To the last spool that holds something, else the first, else those behind it; false where none takes them."""
        begun = max((place for place, spool in enumerate(spools) if spool.holds), default=0)
        for spool in spools[begun:]:
            try:
                spool.add(events)
                return True
            except OSError as error:
                reason = f"{spool.path} cannot be written: {error.strerror or error}"
        self._lose(len(events), reason)
        return False

    def _take_in(self, *, at_last: bool = False) -> bool:
        """Appends what the spool holds. True where nothing is left in it, and the database may be tried."""
        if time.monotonic() < self._away_until and not at_last:
            return False
        if not self._spool_holds():
            return True
        for spool in self._spools:
            if not spool.holds:
                continue
            for batch in read_events(spool.path):
                if not self._append(batch):
                    return False
            spool.remove()
        self.counts.spooled = 0
        return True

    def _append(self, events: list[NewEvent]) -> bool:
        try:
            receipt = self._opened().append(events)
        except Exception as error:
            self._drop_ledger()
            self._away_until = time.monotonic() + RETRY_SECONDS
            reason = str(error) if isinstance(error, RecorderError) else f"{type(error).__name__}: {error}"
            self.counts.reason = self.counts.reason or reason
            return False
        self.counts.stored += len(receipt.events)
        return True

    def _opened(self) -> StreamWriter:
        if self._writer is None:
            # Here, on the writer's thread: to import what knows databases takes a third of a second.
            from recorder.ledger import Ledger

            ledger = self._ledger = Ledger.open(self._database, patience=PATIENCE_SECONDS)
            # Somebody may have made a stream of that name while the database was away.
            self.stream = free_name(ledger, self.stream, self.uuid)
            writer = ledger.writer(self.stream, parent=self._parent)
            writer.uuid = self.uuid
            self._writer = writer
        return self._writer

    def _drop_ledger(self) -> None:
        self._writer = None
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            try:
                ledger.close()
            except DatabaseUnusable as error:
                self.failed("the database", error)


def _end_of(spool: Path) -> Path:
    return spool.with_name(f"{spool.stem}~end{SUFFIX}")


def _next_id() -> bytes:
    return uuid7().bytes
