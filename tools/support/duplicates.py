"""Whether a note was stored before: by the same request, or byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from stilltrue.errors import Refused
from stilltrue.lifecycle import Member, Status
from stilltrue.note import Link, Note
from tools.support.context import ToolContext
from tools.support.lookup import find
from tools.support.neighbours import Nearby
from tools.support.results import Answer, Remembered, Superseded, note_lines, note_view

IN_FORCE = frozenset({Status.CURRENT, Status.PENDING})
"""In one of these a note still says what it says, so the same bytes again are nothing new."""

Kind = TypeVar("Kind", Remembered, Superseded)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The stored note that makes a call a repetition, and how it does: `is identical`, `is from this request`."""

    near: Nearby
    how: str


def same_request(context: ToolContext, request: str | None, text: str, links: Sequence[Link]) -> Duplicate | None:
    """The note that this request stored before. Refused if the request id belongs to another call."""
    note_id = context.store.by_request(request) if request else None
    if note_id is None:
        return None
    near = _stored(context, note_id)
    member = near.member
    if member.status is not Status.ERASED and (member.note.text != text or set(member.links) != set(links)):
        raise Refused(
            "request_id_reused",
            f"request_id {request!r} belongs to the call that stored note [{member.id}], which says something else.",
            "Send a new request_id with each new call, and the same one only to repeat a call.",
        )
    return Duplicate(near, f"is from this request ({request!r})")


def same_words(context: ToolContext, digest: str) -> list[Nearby]:
    """The stored notes with this content hash, oldest first."""
    return [_stored(context, note_id) for note_id in context.store.by_digest(digest)]


def identical(member: Member, draft: Note, links: Sequence[Link]) -> bool:
    """Whether the stored note says what the draft says: same bytes, subjects, class, links and validity."""
    note = member.note
    return (
        note.text == draft.text
        and set(note.subjects) == set(draft.subjects)
        and note.klass == draft.klass
        and set(member.links) == set(links)
        and (note.valid_from, note.valid_until) == (draft.valid_from, draft.valid_until)
    )


def already_stored(context: ToolContext, duplicate: Duplicate, kind: type[Kind]) -> Answer:
    """The answer to a call that repeats another: the note of that call, and that nothing was written."""
    member = duplicate.near.member
    data = kind(
        id=member.id,
        stored=False,
        note=note_view(member, duplicate.near.chain, context.formatter),
        notices=(f"already stored: note [{member.id}] {duplicate.how}; nothing was written.",),
    )
    return Answer("\n".join(note_lines("Known", data.note, data.notices)), data)


def _stored(context: ToolContext, note_id: str) -> Nearby:
    found = find(context, [note_id])
    return Nearby(found.member(note_id), found.chain_of(note_id), 1.0)
