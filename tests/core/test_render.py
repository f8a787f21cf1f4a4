"""A chain as a model reads it: what comes first, what is marked, and how."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from hypothesis import given
from log_text import FORMATTER, LATER, chain_of, day
from strategies import logs

from stilltrue.chain import chains, deliver
from stilltrue.event import Event
from stilltrue.lifecycle import Status
from stilltrue.text.formatting import Formatter, indented
from stilltrue.text.render import render_chain, retraction_lines

PROXY = """
    A  remembered "the outage was the database" about api
    B  remembered "it was the proxy" about api corrects A because "the logs say so"
"""


def lines(text: str, on: float = LATER) -> list[str]:
    """The lines of the one chain of a log, entered by no note in particular."""
    return [line.text for line in render_chain(deliver(chain_of(text, on), []), FORMATTER).lines]


def as_of(text: str, then: float) -> list[str]:
    """The lines of the one chain of a log as of that day, with what is known today."""
    return [
        line.text for line in render_chain(deliver(chain_of(text, then, then), [], chain_of(text)), FORMATTER).lines
    ]


def test_what_holds_leads_and_what_it_replaced_is_marked_as_history() -> None:
    """A reader of the first line alone has the right answer."""
    head, history = lines(PROXY)
    assert head.startswith("* it was the proxy [B] (api; 2025-01-03")
    assert history.startswith("  WRONG: the outage was the database [A] (2025-01-02)")


def test_a_corrected_note_is_marked_as_wrong_and_an_updated_one_as_no_longer_true() -> None:
    """Either it was never true, or it changed; the reason follows the text."""
    assert lines(PROXY)[1] == '  WRONG: the outage was the database [A] (2025-01-02) - "the logs say so"'
    assert lines(PROXY.replace("corrects", "updates"))[1].startswith("  no longer true: the outage was")


def test_a_successor_that_is_not_right_above_is_named() -> None:
    """With its date; if two replaced one note, both are named."""
    log = "A  remembered \n B  remembered updates A \n C  remembered updates A \n D  remembered corrects B"
    _, *shown = lines(log + "\n E  remembered updates A")
    assert shown[2:] == [
        "  = E [E] (team; 2025-01-06)",
        "  WRONG: B [B] (2025-01-03) - corrected by [D] on 2025-01-05",
        "  no longer true: A [A] (2025-01-02) - replaced by [C] on 2025-01-04; replaced by [E] on 2025-01-06",
    ]


def test_defaults_are_left_out_of_a_line() -> None:
    """The user as the source and the class of plain notes would cost tokens in each line."""
    (line,) = lines("A  remembered as allergy by agent")
    assert line == "* A [A] (team; allergy; said by agent on 2025-01-02)"


def test_an_unsettled_note_says_so_first_and_gives_the_reason() -> None:
    """It is never shown silently as current."""
    lead, fallen = lines(PROXY + '-  revoked B because "the proxy was fine"')
    assert lead.startswith("* NOT CONFIRMED: the outage was the database [A]")
    assert 'its successor [B] was retracted on 2025-01-04: "the proxy was fine"' in lead
    assert fallen.startswith("  RETRACTED on 2025-01-04: it was the proxy [B]")


@pytest.mark.parametrize(
    ("text", "start", "mark"),
    [
        ('A  remembered \n -  revoked A because "a rumour"', "RETRACTED on 2025-01-03: ", '"a rumour"'),
        ("A  remembered until 9", "EXPIRED on 2025-01-10: ", ""),
        ("A  remembered from 200", "NOT TRUE BEFORE 2025-07-20: ", ""),
        ("A  remembered \n -  erased A", "ERASED on 2025-01-03: ", "its text was removed for good"),
        ("A  remembered", "A [A]", ""),
    ],
)
def test_a_lead_that_does_not_hold_says_so_before_its_text_and_why_after_it(text: str, start: str, mark: str) -> None:
    """The status comes before the text."""
    (line,) = lines(text)
    assert line.startswith(f"* {start}")
    assert mark in line


def test_a_contested_chain_says_so_before_its_heads_and_shows_them_side_by_side() -> None:
    """Nothing picks a winner, and the reader is told what to do."""
    warning, *shown = lines(PROXY + "C  remembered about api updates A")
    assert warning.startswith("* CONTESTED: ")
    assert [line[:4] for line in shown] == ["  = ", "  = ", "  WR"]


def test_a_line_about_the_whole_chain_shows_no_note() -> None:
    """A note counts as shown by its own line: the warning must not pass for the oldest note, which can be cut."""
    shown = render_chain(deliver(chain_of(PROXY + "C  remembered about api updates A"), []), FORMATTER).lines
    assert [(line.note_id, line.must) for line in shown] == [("", True), ("B", True), ("C", True), ("A", False)]


def test_a_damaged_chain_says_so_and_shows_every_member() -> None:
    """A circle has no head."""
    warning, *shown = lines("A  remembered updates B \n B  remembered updates A")
    assert warning.startswith("* DAMAGED: ")
    assert [line[:20] for line in shown] == ["  = no longer true: "] * 2


def test_an_expired_successor_is_named_as_the_reason_for_an_unsettled_note() -> None:
    """With the date on which it expired."""
    assert "its successor [B] expired on 2025-01-31" in lines(PROXY.replace("because", "until 30 because"))[0]


def test_the_text_of_an_erased_note_is_nowhere() -> None:
    """The tombstone has no content."""
    shown = "\n".join(lines(PROXY + "-  erased B"))
    assert "it was the proxy" not in shown
    assert "corrected by [B], which was erased" in shown


def test_a_refinement_names_what_it_adds_to() -> None:
    """Both lead, and the one says that it belongs to the other."""
    base, refinement = lines("A  remembered \n B  remembered refines A")
    assert "adds to" not in base
    assert refinement.endswith("adds to [A]")


@pytest.mark.parametrize(
    ("line", "status_text"),
    [
        ('-  revoked A because "a mix-up"', 'which was retracted on 2025-01-04: "a mix-up"'),
        ("C  remembered corrects A", "which is WRONG, corrected by [C] on 2025-01-04"),
        ("-  erased A", "which is erased"),
        ("C  remembered updates A \n -  revoked C", "which is unsettled"),
    ],
)
def test_a_refinement_is_shown_with_what_became_of_its_base(line: str, status_text: str) -> None:
    """It keeps its own status, but is never shown as if its base still held."""
    shown = lines("A  remembered \n B  remembered refines A \n" + line)
    (refinement,) = [each for each in shown if "[B] (" in each]
    assert f"adds to [A], {status_text}" in refinement


@pytest.mark.parametrize("own", ["C  remembered updates B \n -  revoked C", ""])
def test_an_unsettled_or_pending_refinement_is_shown_with_what_became_of_its_base(own: str) -> None:
    """Its base may have been revoked as well."""
    opens = "" if own else "from 200"
    shown = lines(f'A  remembered \n B  remembered refines A {opens} \n {own} \n -  revoked A because "a mix-up"')
    (refinement,) = [each for each in shown if "[B] (" in each]
    assert "adds to [A], which was retracted on" in refinement
    assert '"a mix-up"' in refinement


def test_a_pending_successor_says_from_when_on_it_holds() -> None:
    """The head stays first."""
    head, coming = lines("A  remembered \n B  remembered updates A from 200")
    assert head.startswith("* A [A]")
    assert coming.startswith("  NOT TRUE BEFORE 2025-07-20: B [B]")


def test_the_bounds_of_validity_are_shown() -> None:
    """A fact with an end is not shown as one without."""
    (line,) = lines("A  remembered from 3 until 200")
    assert "valid from 2025-01-04; valid until 2025-07-19" in line


def test_as_of_an_earlier_day_a_note_is_marked_with_what_is_known_today() -> None:
    """What was believed then leads, marked as wrong, and what came since follows."""
    then, since = as_of("A  remembered @1 \n B  remembered corrects A @5", then=3)
    assert then.startswith("* A [A]")
    assert "KNOWN TODAY: WRONG, corrected" in then
    assert since.startswith("  since then: B [B]")


def test_as_of_an_earlier_day_a_note_that_was_revoked_since_is_marked() -> None:
    """Nothing retracted is shown as true."""
    (line,) = as_of('A  remembered @1 \n -  revoked A because "a rumour" @5', then=3)
    assert 'KNOWN TODAY: RETRACTED on 2025-01-06, "a rumour"' in line


def test_as_of_an_earlier_day_a_note_that_was_revoked_again_since_has_both_reasons() -> None:
    """The status is the same then and now; the cause is not."""
    (line,) = as_of(
        """
        A  remembered  @1
        -  revoked A because "a rumour"  @2
        -  reinstated A  @4
        -  revoked A because "the invoice says otherwise"  @5
        """,
        then=3,
    )
    assert line.startswith("* RETRACTED on 2025-01-03: A [A]")
    assert '- "a rumour"; KNOWN TODAY: RETRACTED on 2025-01-06, "the invoice' in line


def test_as_of_an_earlier_day_a_refinement_whose_base_was_revoked_since_is_marked() -> None:
    """It still holds, but what it was added to does not."""
    shown = as_of('A  remembered @1 \n B  remembered refines A @2 \n -  revoked A because "a rumour" @5', then=3)
    assert ["KNOWN TODAY: adds to [A], which was retracted" in line for line in shown] == [False, True]


def test_as_of_an_earlier_day_history_that_was_history_then_is_not_marked_again() -> None:
    """The same note replaces it then and today."""
    shown = as_of("A  remembered @1 \n B  remembered updates A @2 \n C  remembered updates B @5", then=3)
    assert ["KNOWN TODAY" in line for line in shown] == [True, False, False]


def test_as_of_an_earlier_day_a_note_that_still_holds_is_not_marked() -> None:
    """There is nothing else to know about it."""
    assert "KNOWN TODAY" not in as_of("A  remembered @1", then=3)[0]


def test_a_retraction_is_shown_with_its_reason_so_that_it_is_not_learned_again() -> None:
    """It is one line, and the status comes before the text."""
    chain = chain_of('A  remembered "the port is 5432" \n -  revoked A because "that was staging"')
    (line,) = retraction_lines(chain, ["A"], FORMATTER)
    assert line.text.startswith("* RETRACTED on 2025-01-03: the port is 5432 [A]")
    assert line.text.endswith('- "that was staging"')


def test_a_chain_in_which_nothing_was_revoked_has_no_retraction() -> None:
    """An expired note was never withdrawn."""
    assert retraction_lines(chain_of("A  remembered until 9"), ["A"], FORMATTER) == ()


@given(logs())
def test_a_retraction_shows_every_revocation_newer_than_the_entry(log: list[Event]) -> None:
    """If an end was revoked, the whole closure of the entry is shown."""
    for chain in chains(log, day(LATER)):
        shown = {line.note_id: line.text for line in retraction_lines(chain, chain.members, FORMATTER)}
        revoked = {member for member in chain.members.values() if member.status is Status.REVOKED}
        assert not chain.retired or shown or not revoked & {chain.members[note_id] for note_id in chain.lead}
        assert not shown or all(
            member.revocation.reason in shown[member.id] for member in revoked if member.revocation
        )


def test_dates_are_in_the_readers_time_zone() -> None:
    """Midnight in London is morning in Auckland, and still the day before in New York."""
    new_york, auckland = (Formatter(timezone(timedelta(hours=hours))) for hours in (-5, 13))
    assert (new_york.day(day(1)), auckland.day(day(1))) == ("2025-01-01", "2025-01-02")
    assert auckland.time(day(1)) == "2025-01-02T13:00:00+13:00"


def test_lines_after_the_first_are_indented() -> None:
    """The words themselves are unchanged."""
    assert indented("one\ntwo\u2028three") == "one\n      two\n      three"
