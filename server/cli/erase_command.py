"""The command `erase`: selects notes, erases them from a store and its copies, and verifies each."""

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
class Selection:
    """The notes to erase, and lines that show the user which notes go and which stay."""

    note_ids: tuple[str, ...]
    lines: tuple[str, ...]


def select(events: Sequence[Event], ids: Sequence[str], subject: str | None, *, shared: bool) -> Selection:
    """Select notes by id or by subject. Raises Refused if an id or the subject is unknown."""
    notes = {event.id: event.note for event in events if isinstance(event, Remembered)}
    if subject is None:
        wanted = list(dict.fromkeys(each.strip().strip("[]").lower() for each in ids))
        for note_id in wanted:
            if note_id not in notes:
                raise _unknown(note_id, notes)
        return Selection(tuple(wanted), tuple(_listed(notes[each] for each in wanted)))
    alone, others = about(events, canonical_subject(subject))
    if not alone and not others:
        raise Refused("unknown_subject", f"no note is about the subject {subject!r}.", "Check the spelling.")
    if shared:
        alone, others = sorted([*alone, *others]), []
    lines = _listed(notes[each] for each in alone)
    if others:
        lines.append(f"{len(others)} notes are about other subjects as well and stay; --shared erases them too:")
        lines += _listed(notes[each] for each in others)
    return Selection(tuple(alone), tuple(lines))


def erase_everywhere(
    stores: Sequence[FolderBackend], note_ids: Sequence[str], entropy: int, say: Callable[[str], None]
) -> int:
    """Erase the notes from each store that holds them and verify it. Returns 0 if nothing of them is left, else 1."""
    from server.wiring import utc_now
    from store.admin.verify_erasure import prove
    from store.folder.erasure import Intent, erase, pending

    logs = [store.events() for store in stores]
    # A copy may still hold words that another no longer has, so each is searched for the words of all.
    traces = Traces()
    for events in logs:
        traces |= traces_of(events, note_ids)
    code = 0
    for store, events in zip(stores, logs, strict=True):
        present = {event.id for event in events if isinstance(event, Remembered)}.intersection(note_ids)
        done = {event.note_id for event in events if isinstance(event, Erased)}
        if not present - done and pending(store.folder) is None:
            found = f"{len(present)} of these were erased before" if present else "holds none of them"
            say(f"{store.folder}: {found}.")
            continue
        with store.maintenance.held():  # held throughout, so that nothing is compacted in between
            intent = Intent(tuple(sorted(present)), utc_now(), entropy)
            erase(store.folder, store.table, store.writers, store.maintenance, intent)
            proof = prove(store, present, traces)
        say(f"{store.folder}: {len(present - done)} notes were erased; their ids and links stay.")
        code |= _print_proof(proof, say)
    return code


def _print_proof(proof: Proof, say: Callable[[str], None]) -> int:
    for remark in proof.elsewhere:
        say(f"note: {remark}")
    for problem in proof.left:
        say(f"problem: {problem}")
    searched = f"{proof.rows} rows of {proof.versions} versions and {proof.size_bytes:,} bytes in {proof.files} files"
    say(f"Searched {searched}: " + ("traces are left." if proof.left else "nothing of them is left."))
    return 1 if proof.left else 0


def _listed(notes: Iterable[Note]) -> list[str]:
    lines = [f"  [{note.id}] ({', '.join(note.subjects)}) {_shortened(note.text)}" for note in notes]
    more = len(lines) - _SHOWN
    return lines if more <= 0 else [*lines[:_SHOWN], f"  and {more} more"]


def _shortened(text: str) -> str:
    words = " ".join(text.split()) or "(erased)"
    return words if len(words) <= 80 else f"{words[:77]}..."


def _unknown(note_id: str, notes: Iterable[str]) -> Refused:
    near = [f"[{each}]" for each in notes if note_id and each.startswith(note_id)][:5]
    hint = f"Notes whose ids begin with it: {', '.join(near)}." if near else "Copy the full id from recall or export."
    return Refused("unknown_note", f"there is no note {note_id!r}.", f"{hint} Nothing was erased.")
