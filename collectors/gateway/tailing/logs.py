"""Own one log that is followed: the file that its name leads to, and earlier ones that are not read to their end.

Rotation makes generations. One that was renamed stays open and is read on, for its writer may not have noticed
yet. One that was truncated is looked for among the rotated files, and so is one that a stopped collector had
not read to its end. What is found anew there is recognised by content; in doubt a file is read from its
beginning, which costs time and adds nothing: a line is its content and how often it came before in its file.
"""

from __future__ import annotations

import errno
import logging
import math
import os
from typing import TYPE_CHECKING

from collectors.gateway.tailing.contents import Unreadable, open_earlier, open_plain
from collectors.gateway.tailing.earlier_files import earlier_files, file_key
from collectors.gateway.tailing.generations import Generation, Severed, State
from collectors.gateway.tailing.records import LogRecord
from collectors.gateway.tailing.restoring import record_of
from collectors.gateway.tailing.shared_coverage import LogCoverage
from fairclock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from collectors.gateway.formats import FormatChoice
    from collectors.gateway.tailing.contents import Content
    from collectors.gateway.tailing.earlier_files import EarlierFile, FileKey
    from collectors.gateway.tailing.generations import Reading

_LOG = logging.getLogger(__name__)
_US_PER_SECOND = 1_000_000
_NS_PER_SECOND = 1_000_000_000
LINGER_SECONDS = 600
"""How long a renamed file is kept open after its last line: a writer told to reopen it may take a while."""
DELETED_LINGER_SECONDS = 60
SEARCH_SECONDS = 60
"""How long rotated files are searched after something happened: they may be on the move."""
SCAN_SECONDS = 5
_MOST_FINISHED = 16


class FollowedLog:
    """Follow the log called `path`, through `generations`, oldest first.

    since_ns: rotated files last written before this are of no interest: they were there before anybody asked, or
    were looked at since.
    is_held: whether a file is open here or for another log (two names can lead to one file).
    """

    def __init__(
        self,
        path: str,
        *,
        since_ns: int,
        is_held: Callable[[os.stat_result], bool],
        now_us: int,
        generations: Sequence[Generation] | None = None,
        coverage: LogCoverage | None = None,
    ) -> None:
        """Take up `generations`, which a checkpoint knew; None where the log was never followed."""
        self.path = path
        self.coverage = coverage or LogCoverage()
        self._is_shut = False
        self.since_ns = since_ns
        self.generations = list(generations or ())
        self._shown: os.stat_result | None = None
        self.lost = 0
        self._is_held = is_held
        self._judged: dict[FileKey, Generation | None] = {}
        self._is_unclear = False
        self._complaints: dict[str, str] = {}
        self._scanned_us: int | None = None
        self._search_until_us = now_us + SEARCH_SECONDS * _US_PER_SECOND
        # Rotated files that were last written before this are of no interest; what compresses may keep whole seconds.
        wanted_ns = [each.mtime_ns for each in self.generations if each.state is State.WANTED]
        self._floor_ns = min([since_ns, *(each - each % _NS_PER_SECOND for each in wanted_ns)])

    @property
    def is_missing(self) -> bool:
        """Return whether the log's name leads to no file."""
        return self._shown is None

    @property
    def followed(self) -> Iterator[Generation]:
        """Yield the generations whose bytes are at hand."""
        return (each for each in tuple(self.generations) if each.content is not None)

    def is_searching(self, now_us: int) -> bool:
        """Return whether rotated files are being searched."""
        return now_us < self._search_until_us

    def to_record(self) -> LogRecord:
        """Return what a checkpoint keeps of this log."""
        return LogRecord(
            path=self.path,
            since_ns=self.since_ns,
            generations=tuple(map(record_of, self.generations)),
            coverage=self.coverage,
        )

    def unread_from_us(self, readings: Mapping[Generation, Reading]) -> float:
        """Return from which event time on the log is not read once `readings` are delivered; infinity: to its end."""
        known_us = -math.inf if self.coverage.through_us is None else self.coverage.through_us
        for generation in self.generations:
            reading = readings.get(generation)
            end, through_us = (
                (generation.offset, generation.through_us)
                if reading is None
                else (reading.end, reading.through_us)
            )
            is_wanted = generation.state is State.WANTED and generation.largest_size > 0
            if is_wanted or generation.has_lines_behind(end):
                return known_us if through_us is None else through_us
        return known_us if self._is_shut else math.inf

    def close(self) -> None:
        """Let all files go."""
        for generation in self.generations:
            generation.release()

    def look(self, now_us: int, *, may_give_up: bool = True) -> None:
        """Notice what became of the files since the last look; reads no lines."""
        try:
            shown = os.stat(self.path)  # noqa: PTH116 - the path as it was given
        except OSError:
            shown = None
        self._shown = shown
        for generation in self.followed:
            retired = shown is None or not generation.is_file(shown)
            if retired != generation.retired:
                generation.retired = retired
                generation.quiet_since_us = now_us
        if shown is not None and all(each.retired for each in self.followed):
            self._arrived(shown, now_us)
        for generation in self.followed:
            self._glimpse(generation)
        if self._scanned_us is None or not 0 <= now_us - self._scanned_us < SCAN_SECONDS * _US_PER_SECOND:
            self._scan(now_us)
        if may_give_up:
            self._give_up(now_us)

    def _glimpse(self, generation: Generation) -> None:
        try:
            generation.glimpse()
        except OSError as error:
            self._complain(generation.name, str(error.strerror))

    def _arrived(self, shown: os.stat_result, now_us: int) -> None:
        """Take the file that the log's name leads to and that is none of those followed."""
        self._is_shut = False
        if self._is_held(shown):
            return
        try:
            content = open_plain(self.path)
        except Unreadable as problem:
            self._is_shut = True
            self._complain(self.path, str(problem))
            return
        try:
            self._begin_with(content, now_us)
        except OSError as error:
            self._is_shut = True
            self._let_go(self.path, content, error)
        else:
            self._complaints.pop(self.path, None)

    def _begin_with(self, content: Content, now_us: int) -> None:
        shown = self._shown = content.stat()  # it may have been rotated since it was seen
        if self._is_held(shown):
            content.close()
            return
        truncated = any(each.state is State.WANTED and each.is_in(content) for each in self.generations)
        if self._taken_up(self.path, content) is not None:
            return
        before = self.generations[-1] if self.generations else None
        if (
            before is not None
            and before.content is not None
            and before.offset
            and before.prints.found_in(content)
        ):
            # A copy took the place of the file: what was read of the one was read of the other.
            self.generations.append(before.fork(self.path, content))
            return
        self._scan(now_us, truncated=truncated)
        self._forget_the_unseen()
        follows = not truncated and not self._is_unclear and self._goes_on()
        self.generations.append(Generation(name=self.path, content=content, follows=follows))

    def _goes_on(self) -> bool:
        """Return whether a generation that is put behind the last one follows it without a gap."""
        return bool(self.generations) and self.generations[-1].content is not None

    def _forget_the_unseen(self) -> None:
        """Forget files that were empty when they were last seen: nothing tells them from a file that is new here."""
        self.generations = [
            each
            for each in self.generations
            if each.state is not State.WANTED or each.prints.head.length or each.largest_size
        ]

    def _taken_up(self, name: str, content: Content) -> Generation | None:
        """Return the generation that goes on in `content`: one that is looked for, or that had come to an end."""
        for generation in reversed(self.generations):
            if generation.content is not None:
                continue
            same_file = generation.is_in(content)
            if generation.prints.head.length == 0:
                if generation.state is State.WANTED and same_file:
                    generation.begin(name, content)
                    return generation
            elif (generation.state is State.WANTED or same_file) and generation.attach(name, content):
                return generation
        return None

    def _severed(self, generation: Generation, now_us: int) -> None:
        """Note that the open file of `generation` holds another one now, and look for the old one's bytes."""
        content = generation.sever()
        _LOG.info(
            "%s was truncated or written anew; %d bytes of it had been read",
            generation.name,
            generation.offset,
        )
        fresh = Generation(name=generation.name, content=content)
        fresh.retired, fresh.quiet_since_us = generation.retired, now_us
        self.generations.insert(self.generations.index(generation) + 1, fresh)
        if generation.prints.head.length == 0:
            self.generations.remove(generation)
        self._search_until_us = now_us + SEARCH_SECONDS * _US_PER_SECOND
        self._judged = {key: copied for key, copied in self._judged.items() if copied is not generation}
        self._scan(now_us)

    def _scan(self, now_us: int, *, truncated: bool = False) -> None:
        """Look at the rotated files: for what is wanted, for what came and went unseen, for what grew again.

        `truncated`: they are copies that were made before a truncation, and lines between the two may be lost.
        """
        self._scanned_us = now_us
        self._is_unclear = False
        latest_ns = self.generations[-1].mtime_ns if self.generations else 0
        for file in earlier_files(self.path):
            if file.key in self._judged or self._is_held(file.stat) or self._is_shown(file.stat):
                continue
            finished = [each for each in self.generations if each.is_finished_in(file.stat)]
            if any(
                file.stat.st_size <= each.largest_size and file.stat.st_mtime_ns == each.mtime_ns
                for each in finished
            ):  # neither grown since, nor another file in the same inode
                continue
            if finished or file.stat.st_mtime_ns >= self._floor_ns:
                self._judge(file, truncated=truncated)
        if not self._is_unclear:
            self.since_ns = max(self.since_ns, latest_ns)

    def _is_shown(self, stat: os.stat_result) -> bool:
        return self._shown is not None and os.path.samestat(self._shown, stat)

    def _judge(self, file: EarlierFile, *, truncated: bool) -> None:
        """Take `file` for a generation, a known one or a new one, or for a copy of one."""
        try:
            content = open_earlier(file.path)
        except Unreadable as problem:
            self._is_unclear = True
            self._complain(file.path, str(problem))
            return
        try:
            self._take(file, content, truncated=truncated)
        except OSError as error:
            self._is_unclear = True
            self._let_go(file.path, content, error)

    def _let_go(self, name: str, content: Content, error: OSError) -> None:
        """Close a file that failed before any generation had it; one that has it goes on with it."""
        self._complain(name, str(error.strerror))
        if not any(each.content is content for each in self.generations):
            content.close()

    def _take(self, file: EarlierFile, content: Content, *, truncated: bool) -> None:
        taken_up = self._taken_up(file.path, content)
        if taken_up is not None:
            taken_up.retired = True  # what comes after it goes behind it, and follows
            return
        copied = next((each for each in self.generations if each.holds(content)), None)
        if copied is not None:
            content.close()
            self._judged[file.key] = copied
            return
        self._forget_the_unseen()
        current = next((each for each in self.followed if not each.retired), None)
        at = len(self.generations) if current is None else self.generations.index(current)
        follows = current is None and not truncated and self._goes_on()
        fresh = Generation(name=file.path, content=content, follows=follows)
        fresh.retired = True
        self.generations.insert(at, fresh)
        self._glimpse(fresh)

    def read(self, *, source: str, choice: FormatChoice, now_us: int) -> tuple[Generation, Reading] | None:
        """Return the next lines of the log, an older generation's first, or None where there are none yet."""
        for generation in self.followed:
            self._go_on_from_before(generation)
            try:
                reading = None
                if generation.is_news():
                    reading = generation.read(source=source, choice=choice, now_us=now_us)
                if reading is None and self._is_over(generation, now_us):
                    reading = generation.read(source=source, choice=choice, now_us=now_us, last=True)
                    if reading is None:
                        self._finish(generation)
            except Severed:
                self._severed(generation, now_us)
                return self.read(source=source, choice=choice, now_us=now_us)
            except OSError as error:
                self._complain(generation.name, str(error.strerror))
                generation.look_again()
                if error.errno == errno.ESTALE:  # replaced on its server by another machine
                    generation.sever().close()
                    self._search_until_us = now_us + SEARCH_SECONDS * _US_PER_SECOND
                continue
            except InputError as doubt:
                self._complain(generation.name, f"{doubt.problem} ({doubt.found}); {doubt.remedy}")
                continue
            if reading is not None:
                generation.quiet_since_us = now_us
                return generation, reading
        return None

    def _finish(self, generation: Generation) -> None:
        """Let go of a generation that was read to its end; its file needs no judging unless it grows."""
        if generation.content is not None:
            self._judged[file_key(generation.content.stat())] = None
        generation.finish()

    def _go_on_from_before(self, generation: Generation) -> None:
        """Let event time go on from the generation before, where that is read to its end by now: its file may fail."""
        at = self.generations.index(generation)
        if generation.follows and generation.offset == 0 and generation.through_us is None and at > 0:
            before = self.generations[at - 1]
            is_read = before.state is not State.WANTED and not before.has_lines_behind(before.offset)
            if is_read and not before.given_up:
                generation.through_us = before.through_us

    def _is_over(self, generation: Generation, now_us: int) -> bool:
        """Return whether a generation that was read to its end will get no more lines."""
        content = generation.content
        if content is None or not generation.retired:
            return False
        if not content.grows and not content.ended_early():
            return True
        deleted = content.stat().st_nlink == 0
        linger = DELETED_LINGER_SECONDS if deleted else LINGER_SECONDS
        quiet_since_us = generation.quiet_since_us
        if quiet_since_us is None:
            quiet_since_us = generation.quiet_since_us = now_us
        if now_us - quiet_since_us < linger * _US_PER_SECOND:
            return False
        if content.ended_early() and not generation.given_up:
            generation.given_up = True
            self.lost += 1
            self.coverage = self.coverage.without(generation.through_us, now_us)
            _LOG.warning(
                "%s breaks off: what was in it after %d bytes is lost", generation.name, generation.offset
            )
        return True

    def _give_up(self, now_us: int) -> None:
        """End the search for what was not found, and forget what ended long ago."""
        if now_us >= self._search_until_us:
            for generation in [each for each in self.generations if each.state is State.WANTED]:
                self._lose(generation, now_us)
        finished = [each for each in self.generations if each.state is State.FINISHED]
        for generation in finished[:-_MOST_FINISHED]:
            self.generations.remove(generation)

    def _lose(self, generation: Generation, now_us: int) -> None:
        unread = generation.largest_size - generation.offset
        generation.finish()
        generation.given_up = True
        if unread <= 0 and (generation.watched or generation.offset == 0):
            _LOG.info("%s: all that was seen of it was read before it was gone", generation.name)
            return
        self.lost += 1
        self.coverage = self.coverage.without(generation.through_us, now_us)
        _LOG.warning(
            "%s: a file of which %d bytes were read is nowhere to be found; %s is lost, and no time is covered for it",
            self.path,
            generation.offset,
            f"what followed them, at least {unread} bytes,"
            if unread > 0
            else "what was written later, if anything,",
        )

    def _complain(self, path: str, problem: str) -> None:
        if self._complaints.get(path) != problem:
            self._complaints[path] = problem
            _LOG.warning("%s cannot be read: %s; it is tried again", path, problem)
