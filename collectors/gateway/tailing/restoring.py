"""Own what of a generation outlives the process, and how it comes back."""

from __future__ import annotations

from collectors.gateway.tailing.generations import Generation, State
from collectors.gateway.tailing.key_index import KeyIndex
from collectors.gateway.tailing.numbering import Numbering
from collectors.gateway.tailing.records import GenerationRecord


def record_of(generation: Generation) -> GenerationRecord:
    """Return what a checkpoint keeps of `generation`."""
    return GenerationRecord(
        name=generation.name,
        identity=generation.identity,
        device=generation.device,
        inode=generation.inode,
        version=generation.version,
        largest_size=generation.largest_size,
        mtime_ns=generation.mtime_ns,
        prints=generation.prints,
        through_us=generation.through_us,
        follows=generation.follows,
        finished=generation.state is State.FINISHED,
        given_up=generation.given_up,
        index=generation.numbering.index.to_stored(),
    )


def restored(record: GenerationRecord) -> Generation:
    """Return the generation of `record`; where its bytes are now is still to be found."""
    generation = Generation(
        name=record.name,
        content=None,
        state=State.FINISHED if record.finished else State.WANTED,
        identity=record.identity,
        prints=record.prints,
        numbering=Numbering(KeyIndex.restored(record.index, below=record.prints.offset)),
        through_us=record.through_us,
        follows=record.follows,
    )
    generation.device, generation.inode = record.device, record.inode
    generation.version = record.version
    generation.largest_size, generation.mtime_ns = record.largest_size, record.mtime_ns
    generation.given_up = record.given_up
    return generation
