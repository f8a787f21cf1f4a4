"""What a new note takes over from the notes that it replaces, and what it must not drop silently."""

from __future__ import annotations

from collections.abc import Sequence

from stilltrue.errors import Refused
from stilltrue.lifecycle import Member
from stilltrue.note import RETIRING, Note
from tools.support import validation
from tools.support.context import ToolContext
from tools.support.effect import may_bind
from tools.support.lookup import Found


def inherited(
    older: Sequence[Note], text: str, subjects: Sequence[str], klass: str | None, context: ToolContext
) -> Note:
    """A draft that inherits all subjects, a requirement class if there is one, and an attribute if all share it."""
    attributes = {note.attribute for note in older}
    binding = [note.klass for note in older if context.classes.of(note.klass).requirement]
    return Note(
        id="",
        text=text,
        subjects=tuple(subjects) or tuple(dict.fromkeys(name for note in older for name in note.subjects)),
        klass=klass or (binding or [older[0].klass])[0],
        source=validation.AGENT,
        recorded_at=older[0].recorded_at,
        importance=max(note.importance for note in older),
        attribute=attributes.pop() if len(attributes) == 1 else None,
    )


def all_replaced(found: Found, ids: Sequence[str]) -> list[Member]:
    """The notes that a successor of these replaces, in log order: these, and what they had replaced themselves.

    The older ones count because they may bind: if one of these was revoked or has expired, what it had replaced is
    unsettled.
    """
    reached: dict[str, Member] = {}
    frontier = list(ids)
    while frontier:
        member = found.member(frontier.pop())
        if member.id not in reached:
            reached[member.id] = member
            known = found.chain_of(member.id).members
            frontier += [link.to for link in member.links if link.kind in RETIRING and link.to in known]
    return [reached[note_id] for note_id in sorted(reached)]


def refuse_silent_lift(member: Member, draft: Note, context: ToolContext) -> None:
    """Refused if the draft would lift this requirement: by a class that binds nobody, or by dropping a subject."""
    if not may_bind(member, context):
        return
    freed = [name for name in member.note.subjects if name not in draft.subjects]
    if context.classes.of(draft.klass).requirement and not freed:
        return
    what = f"class {draft.klass} binds nobody" if not freed else f"it no longer names {', '.join(freed)}"
    raise Refused(
        "lifts_requirement",
        f"note [{member.id}] is a requirement ({member.note.klass}), and the new note would lift it: {what}.",
        f"Keep it with klass {member.note.klass} and subjects {', '.join(member.note.subjects)}; or, if it really "
        "ends, set lifts_requirement and give the reason.",
    )
