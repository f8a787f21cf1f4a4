"""What `erase` is to erase, and erasing it from a store and its copies, each with its proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stilltrue.errors import Refused
from stilltrue.event import Erased, Event, Remembered
from stilltrue.formats.redaction import Traces, about, traces_of
from stilltrue.note import Note, canonical_subject

if TYPE_CHECKING:
    from store.admin.verify_erasure import Proof
    from store.folder.backend import FolderBackend

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Chosen:
    """The notes that are to be erased, and lines that tell a person which these are and which stay."""

    note_ids: tuple[str, ...]
    lines: tuple[str, ...]


def select(events: Sequence[Event], ids: Sequence[str], subject: str | None, *, shared: bool) -> Chosen:
    """The notes with these ids, or those about a subject. Refused where an id is not that of a note."""
    notes = {event.id: event.note for event in events if isinstance(event, Remembered)}
    if subject is None:
        wanted = list(dict.fromkeys(each.strip().strip("[]").lower() for each in ids))
        for note_id in wanted:
            if note_id not in notes:
                raise _unknown(note_id, notes)
        return Chosen(tuple(wanted), tuple(_listed(notes[each] for each in wanted)))
    alone, others = about(events, canonical_subject(subject))
    if not alone and not others:
        raise Refused("unknown_subject", f"no note names the subject {subject!r}.", "Correct its spelling.")
    if shared:
        alone, others = sorted([*alone, *others]), []
    lines = _listed(notes[each] for each in alone)
    if others:
        lines.append(f"{len(others)} notes name others as well and stay; --shared erases them too:")
        lines += _listed(notes[each] for each in others)
    return Chosen(tuple(alone), tuple(lines))


def erase_everywhere(
    stores: Sequence[FolderBackend], note_ids: Sequence[str], entropy: int, say: Callable[[str], None]
) -> int:
    """Erases the notes from each of the stores that holds them and proves it; 0 where nothing of them is left."""
    from server.wiring import utc_now
    from store.admin.verify_erasure import prove
    from store.folder.erasure import Intent, erase, pending

    logs = [store.events() for store in stores]
    # What one of them no longer says another may: each is searched for the words of all.
    traces = Traces()
    for events in logs:
        traces |= traces_of(events, note_ids)
    code = 0
    for store, events in zip(stores, logs, strict=True):
        there = {event.id for event in events if isinstance(event, Remembered)}.intersection(note_ids)
        done = {event.note_id for event in events if isinstance(event, Erased)}
        if not there - done and pending(store.folder) is None:
            say(f"{store.folder}: {f'{len(there)} of these were erased before' if there else 'holds none of them'}.")
            continue
        with store.maintenance.held():  # from the first change to the last look, so that nothing is compacted between
            intent = Intent(tuple(sorted(there)), utc_now(), entropy)
            erase(store.folder, store.table, store.writers, store.maintenance, intent)
            proof = prove(store, there, traces)
        say(f"{store.folder}: {len(there - done)} notes were erased; their ids and links stay.")
        code |= _tell(proof, say)
    return code


def _tell(proof: Proof, say: Callable[[str], None]) -> int:
    for word in proof.elsewhere:
        say(f"note: {word}")
    for problem in proof.left:
        say(f"problem: {problem}")
    seen = f"{proof.rows} rows of {proof.versions} versions and {proof.size_bytes:,} bytes in {proof.files} files"
    say(f"Looked through {seen}: " + ("not all is gone." if proof.left else "nothing of them is left."))
    return 1 if proof.left else 0


def _listed(notes: Iterable[Note]) -> list[str]:
    lines = [f"  [{note.id}] ({', '.join(note.subjects)}) {_brief(note.text)}" for note in notes]
    more = len(lines) - _SHOWN
    return lines if more <= 0 else [*lines[:_SHOWN], f"  and {more} more"]


def _brief(text: str) -> str:
    words = " ".join(text.split()) or "(erased)"
    return words if len(words) <= 80 else f"{words[:77]}..."


def _unknown(note_id: str, notes: Iterable[str]) -> Refused:
    near = [f"[{each}]" for each in notes if note_id and each.startswith(note_id)][:5]
    hint = f"Notes whose ids begin so: {', '.join(near)}." if near else "Take the whole id from recall or export."
    return Refused("unknown_note", f"there is no note {note_id!r}.", f"{hint} Nothing was erased.")
