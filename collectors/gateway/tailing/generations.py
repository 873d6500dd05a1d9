"""Own one generation of a log: its bytes wherever they lie by now, and how far they were read."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING

from collectors.gateway.tailing.framing import frames_of
from collectors.gateway.tailing.numbering import Numbering
from collectors.gateway.tailing.pieces import PieceReader, lines_between
from collectors.gateway.tailing.prints import PRINT_BYTES, Print, Prints

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from collectors.gateway.formats import FormatChoice, GatewayFormat
    from collectors.gateway.tailing.contents import Content
    from collectors.gateway.tailing.pieces import Piece
    from fairclock.model import Frame

_LOG = logging.getLogger(__name__)
_QUIET_LOOKS = 2
_RECOGNISED_BY_BYTES = 64 << 10
_HASH_BYTES = 8
_LOOK_BYTES = 1 << 20


class Severed(Exception):  # noqa: N818 - something that happens to logs, handled by whoever follows the log
    """The open file no longer holds what was read of it: it was truncated or written anew."""


class State(StrEnum):
    """Where a generation stands."""

    FOLLOWED = "followed"
    """Its bytes are at hand."""
    WANTED = "wanted"
    """Not all of it was read, and where its bytes are now is being looked for."""
    FINISHED = "finished"
    """It was read to its end, or given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A piece that was read and not yet delivered, and what is true once it is."""

    frames: list[Frame]
    lines: int
    end: int
    head: bytes
    tail: bytes
    through_us: int | None


class Generation:
    """Follow one generation; `committed` moves it on after a reading was delivered.

    name: where its file was last seen.
    follows: nothing lies between it and the generation before it, so that event time goes on from there.
    retired: the log's name leads to another file.
    given_up: not all that was in it could be read.
    """

    def __init__(
        self,
        *,
        name: str,
        content: Content | None,
        state: State = State.FOLLOWED,
        identity: str = "",
        prints: Prints | None = None,
        numbering: Numbering | None = None,
        through_us: int | None = None,
        follows: bool = False,
    ) -> None:
        self.name = name
        self.state = state
        self.identity = identity
        self.through_us = through_us
        self.follows = follows
        self.retired = self.given_up = self.watched = False
        self.quiet_since_us: int | None = None
        self.device = self.inode = self.largest_size = self.mtime_ns = 0
        self.version: int | None = None
        self.numbering = numbering or Numbering()
        self._prints = prints or Prints()
        self._head = self._tail = self._unread_head = b""
        self._form: GatewayFormat | None = None
        self._must_recount = False
        self._looked = 0
        self._looked_at: tuple[int, int] | None = None
        self.content: Content | None = None
        if content is not None:
            self._hold(content)

    @property
    def offset(self) -> int:
        """Return how many bytes were read and delivered."""
        return self._prints.offset

    @property
    def prints(self) -> Prints:
        """Return what the generation is recognised by; where nothing was read yet, how its file was seen to begin."""
        if self.offset == 0 and self._unread_head:
            return Prints(head=Print.of(self._unread_head))
        return self._prints

    def is_file(self, stat: os.stat_result) -> bool:
        """Return whether `stat` is of the file that was last seen to hold this generation."""
        return (self.device, self.inode) == (stat.st_dev, stat.st_ino)

    def is_in(self, content: Content) -> bool:
        """Return whether `content` is of that file, and not of one that was given its inode since, as far as can be told."""
        version = content.version()
        is_reused = None not in {self.version, version} and self.version != version
        return self.is_file(content.stat()) and not is_reused

    def is_finished_in(self, stat: os.stat_result) -> bool:
        """Return whether all that was to be read of this generation was read in that file, or in one that had its inode."""
        return self.state is State.FINISHED and self.is_file(stat)

    def attach(self, name: str, content: Content) -> bool:
        """Go on in `content` if it begins with all that was read; return whether it does."""
        found = self.prints.found_in(content)
        if found is None:
            return False
        self.release()
        if self.offset:
            self._head, self._tail = found
        else:
            self._unread_head = found[0]
        self.name, self.state = name, State.FOLLOWED
        self._hold(content)
        if self.numbering.index.is_empty:
            self._must_recount = True
        return True

    def fork(self, name: str, content: Content) -> Generation:
        """Return a generation that has read of `content` what was read of this one, whose file is another."""
        other = Generation(
            name=name,
            content=None,
            identity=self.identity,
            prints=self._prints,
            numbering=Numbering(self.numbering.index.copy(below=self.offset)),
            through_us=self.through_us,
        )
        if not other.attach(name, content):
            raise ValueError(f"{name} does not begin with what was read of {self.name}")
        return other

    def holds(self, content: Content) -> bool:
        """Return whether `content` is a copy of what is or was read here, so that reading it would add nothing.

        Answers False in doubt.
        """
        own = self.content
        if own is not None and self.offset == 0:  # open, and not one line of it delivered yet
            head = own.read_at(0, PRINT_BYTES)
            begins = bool(head) and content.read_at(0, len(head)) == head
        else:
            begins = self._prints.begins(content)
        if not begins:
            return False
        if own is None:
            whole = content.has_size(self.offset)
            return whole and (not content.grows or self._prints.found_in(content) is not None)
        if not own.grows:
            return False
        if not content.grows:
            return content.has_size(own.stat().st_size)
        size = content.stat().st_size
        length = min(size, PRINT_BYTES)
        return content.read_at(size - length, length) == own.read_at(size - length, length)

    def begin(self, name: str, content: Content) -> None:
        """Begin with `content`, the file of which nothing had been read yet."""
        self.name, self.state = name, State.FOLLOWED
        self._hold(content)

    def _hold(self, content: Content) -> None:
        self.content = content
        self._reader = PieceReader(content)
        self._looked_at = None
        self.version = content.version()
        self.note(content.stat())

    def note(self, stat: os.stat_result) -> None:
        """Remember what the file is now."""
        self.watched = True
        self.device, self.inode = stat.st_dev, stat.st_ino
        self.mtime_ns = stat.st_mtime_ns
        if self.content is not None and self.content.grows:
            self.largest_size = max(self.largest_size, stat.st_size)

    def glimpse(self) -> None:
        """Remember how a file begins of which nothing could be delivered yet, to know it again elsewhere."""
        if self.content is None or self.offset or len(self._unread_head) == PRINT_BYTES:
            return
        head = self.content.read_at(0, PRINT_BYTES).rstrip(
            b"\0"
        )  # NULs may be bytes on their way to the disk
        if len(head) > len(self._unread_head) and head.startswith(self._unread_head):
            self._unread_head = head
            self.note(self.content.stat())

    def has_lines_behind(self, offset: int) -> bool:
        """Return whether there is a whole line from `offset` on, or may be one."""
        content = self.content
        if content is None or not content.grows:
            return content is not None
        try:
            window = content.read_at(offset, _LOOK_BYTES)
        except OSError:
            return True
        return len(window) == _LOOK_BYTES or b"\n" in window

    def release(self) -> None:
        """Let the file go."""
        if self.content is not None:
            self.content.close()
            self.content = None

    def sever(self) -> Content:
        """Give up the open file, which holds something else by now, and return it."""
        content = self.content
        if content is None:
            raise ValueError("a generation without a file cannot be severed from it")
        self.content = None
        self.state = State.WANTED
        self.numbering.rewind(self.offset)
        return content

    def finish(self) -> None:
        """Note that there is nothing more to read, and forget what reading on would need."""
        if self.content is not None:
            self.largest_size = max(self.largest_size, self.content.stat().st_size)
        self.release()
        self.state = State.FINISHED
        self.numbering = Numbering()

    def look_again(self) -> None:
        """Take the file for changed: reading it failed, and that may pass without a change of it."""
        self._looked_at = None

    def is_news(self) -> bool:
        """Return whether the file may have changed since it was last read to its end.

        A second look follows each change: two changes within one tick of the file system's clock look like one.
        """
        if self.content is None:
            return False
        stat = self.content.stat()
        self.note(stat)
        now = (stat.st_size, stat.st_mtime_ns)
        if now != self._looked_at:
            self._looked_at, self._looked = now, 0
            return True
        self._looked += 1
        return self._looked < _QUIET_LOOKS

    def read(self, *, source: str, choice: FormatChoice, now_us: int, last: bool = False) -> Reading | None:
        """Return the next lines, or None where there are none yet; raises `Severed` and `OSError`.

        Where it is in doubt what format they are in, `InputError` is raised, and they are not read.

        `last` also takes a line that no newline ended.
        """
        content = self.content
        if content is None:
            return None
        if content.grows and content.stat().st_size < self.offset:
            raise Severed
        piece = self._reader.last_piece(self.offset) if last else self._reader.next_piece(self.offset)
        if not self._still_holds(content):
            raise Severed
        if piece is None:
            return None
        form = self.numbering.form = self._form or self._recognised(piece, content, choice)
        self._looked_at = None
        self._name_it(piece)
        if self._must_recount:
            self.numbering.recount(self.offset, self._read_again)
            self._must_recount = False
        frames, through_us = frames_of(
            piece,
            numbering=self.numbering,
            read_again=self._read_again,
            source=source,
            form=form,
            generation=self.identity,
            through_us=self.through_us,
            now_us=now_us,
        )
        head, tail = self._prints_after(piece, content)
        if not self._still_holds(content):
            raise Severed
        return Reading(
            frames=frames,
            lines=len(piece.lines),
            end=piece.end,
            head=head,
            tail=tail,
            through_us=through_us,
        )

    def _recognised(self, piece: Piece, content: Content, choice: FormatChoice) -> GatewayFormat:
        """Return the format of the lines; what begins with lines of none is looked at again with the next piece."""
        lines = piece.lines
        if self.offset:
            lines = [*content.read_at(0, _RECOGNISED_BY_BYTES).split(b"\n")[:-1], *lines]
        detected = choice.of(lines, where=self.name)
        if detected.certain:
            self._form = detected.form
            detected.tell(_LOG, self.name)
        return detected.form

    def committed(self, reading: Reading) -> None:
        """Move on behind `reading`, which was delivered."""
        self._head, self._tail = reading.head, reading.tail
        self._prints = Prints(offset=reading.end, head=Print.of(reading.head), tail=Print.of(reading.tail))
        self.through_us = reading.through_us

    def _still_holds(self, content: Content) -> bool:
        if not content.grows:
            return True
        if self.offset == 0:
            return content.read_at(0, len(self._unread_head)) == self._unread_head
        return (
            content.read_at(0, len(self._head)) == self._head
            and content.read_at(self.offset - len(self._tail), len(self._tail)) == self._tail
        )

    def _prints_after(self, piece: Piece, content: Content) -> tuple[bytes, bytes]:
        tail = (
            (self._tail + piece.raw)[-PRINT_BYTES:]
            if len(piece.raw) < PRINT_BYTES
            else piece.raw[-PRINT_BYTES:]
        )
        if self.offset >= PRINT_BYTES:
            return self._head, tail
        if len(piece.raw) == piece.end - piece.start:
            return (self._head + piece.raw[:PRINT_BYTES])[:PRINT_BYTES], tail
        return content.read_at(0, PRINT_BYTES), tail

    def _read_again(self, start: int, end: int) -> Iterable[tuple[int, list[bytes]]]:
        if self.content is not None:
            yield from lines_between(self.content.again(), start, end)

    def _name_it(self, piece: Piece) -> None:
        if not self.identity:
            first = piece.lines[0] if piece.lines else b""
            digest = blake2b(first[:PRINT_BYTES], digest_size=_HASH_BYTES).hexdigest()
            self.identity = f"{self.device:x}:{self.inode:x}:{digest}"
