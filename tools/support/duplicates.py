"""Whether a note was stored before: by the same request, or byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stilltrue.errors import Refused
from stilltrue.lifecycle import Member, Status
from stilltrue.note import Link, Note, content_hash
from tools.support.context import ToolContext
from tools.support.lookup import find
from tools.support.neighbours import Nearby

STILL_STATED = frozenset({Status.CURRENT, Status.PENDING})
"""A note in one of these states what it says: the same bytes again are no news."""


@dataclass(frozen=True, slots=True)
class StoredBefore:
    """The note that makes a call a repetition, and how, for the notice."""

    note: Nearby
    how: str

    @property
    def notice(self) -> str:
        return f"already stored: note [{self.note.member.id}] {self.how}; nothing was written."


def stored_before(
    context: ToolContext, draft: Note, links: Sequence[Link], request: str | None
) -> StoredBefore | list[Nearby]:
    """The note that this call stored before; else every note with the same text, subjects and class, oldest first.

    To be called inside `writing`. Refused if `request` belongs to a
    call that stored something else.
    """
    if earlier := _by_request(context, request, draft.text, links):
        return StoredBefore(earlier, f"is from this request ({request!r})")
    digest = content_hash(draft.text, draft.subjects, draft.klass)
    twins = [_twin(context, note_id) for note_id in context.store.by_digest(digest)]
    for twin in twins:
        if twin.member.status in STILL_STATED and _identical(twin.member, draft, links):
            return StoredBefore(twin, "is identical and replaces the same notes" if links else "is identical")
    return twins


def _by_request(context: ToolContext, request: str | None, text: str, links: Sequence[Link]) -> Nearby | None:
    note_id = context.store.by_request(request) if request else None
    if note_id is None:
        return None
    earlier = _twin(context, note_id)
    member = earlier.member
    if member.status is not Status.ERASED and (member.note.text != text or set(member.links) != set(links)):
        raise Refused(
            "request_id_reused",
            f"request_id {request!r} belongs to the call that stored note [{member.id}], which says something else.",
            "Send a new request_id with each new call, and the same one only to repeat a call.",
        )
    return earlier


def _twin(context: ToolContext, note_id: str) -> Nearby:
    found = find(context, [note_id])
    return Nearby(found.member(note_id), found.chain_of(note_id), 1.0)


def _identical(member: Member, draft: Note, links: Sequence[Link]) -> bool:
    """Whether the stored note says what `draft` says, byte for byte, of the same subjects and the same time."""
    note = member.note
    return (
        note.text == draft.text
        and set(note.subjects) == set(draft.subjects)
        and note.klass == draft.klass
        and set(member.links) == set(links)
        and (note.valid_from, note.valid_until) == (draft.valid_from, draft.valid_until)
    )
