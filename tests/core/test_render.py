"""A chain as a model reads it: what stands first, what is marked, and with what."""

from __future__ import annotations

from datetime import timedelta, timezone

import pytest
from hypothesis import given
from log_text import LATER, VOICE, chain_of, day
from strategies import logs

from stilltrue.chain import chains, deliver
from stilltrue.event import Event
from stilltrue.lifecycle import Status
from stilltrue.text.formatting import Formatter, indented
from stilltrue.text.render import chain_lines, retraction_lines

PROXY = """
    A  remembered "the outage was the database" about api
    B  remembered "it was the proxy" about api corrects A because "the logs say so"
"""


def lines(text: str, on: float = LATER) -> list[str]:
    """The one chain of a log as it is told, entered by nothing in particular."""
    return [line.text for line in chain_lines(deliver(chain_of(text, on), []), VOICE)]


def as_of(text: str, then: float) -> list[str]:
    """The one chain of a log as it was on that day, with what is known today."""
    return [line.text for line in chain_lines(deliver(chain_of(text, then, then), [], chain_of(text)), VOICE)]


def test_what_holds_leads_and_what_it_replaced_is_marked_as_history() -> None:
    """The reader of the first line alone has the right answer."""
    head, history = lines(PROXY)
    assert head.startswith("* it was the proxy [B] (api; 2025-01-03")
    assert history.startswith("  WRONG: the outage was the database [A] (2025-01-02)")


def test_a_corrected_note_is_marked_as_wrong_and_an_updated_one_as_no_longer_true() -> None:
    """It was never true, or it was and changed: the reader is told which, when and why."""
    assert lines(PROXY)[1] == '  WRONG: the outage was the database [A] (2025-01-02) - "the logs say so"'
    assert lines(PROXY.replace("corrects", "updates"))[1].startswith("  no longer true: the outage was")


def test_a_successor_that_does_not_stand_right_above_is_named() -> None:
    """With the day; of two that replaced one note, each is."""
    log = "A  remembered \n B  remembered updates A \n C  remembered updates A \n D  remembered corrects B"
    _, *told = lines(log + "\n E  remembered updates A")
    assert told[2:] == [
        "  = E [E] (team; 2025-01-06)",
        "  WRONG: B [B] (2025-01-03) - corrected by [D] on 2025-01-05",
        "  no longer true: A [A] (2025-01-02) - replaced by [C] on 2025-01-04; replaced by [E] on 2025-01-06",
    ]


def test_what_goes_without_saying_is_not_said() -> None:
    """The user as the source and the class of plain notes cost tokens in each line; where history differs, it is."""
    (line,) = lines("A  remembered as allergy by agent")
    assert line == "* A [A] (team; allergy; said by agent on 2025-01-02)"


def test_a_note_that_is_not_confirmed_says_so_first_with_the_reason() -> None:
    """Never silently as current."""
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
        ("A  remembered \n -  erased A", "ERASED on 2025-01-03: ", "its words were removed for good"),
        ("A  remembered", "A [A]", ""),
    ],
)
def test_a_lead_that_does_not_hold_says_so_before_its_words_and_why_after_them(
    text: str, start: str, mark: str
) -> None:
    """What it is comes before what it says."""
    (line,) = lines(text)
    assert line.startswith(f"* {start}")
    assert mark in line


def test_a_contested_chain_says_so_before_its_heads_and_shows_them_side_by_side() -> None:
    """Nothing picks a winner, and the reader is told what to do."""
    warning, *told = lines(PROXY + "C  remembered about api updates A")
    assert warning.startswith("* CONTESTED: ")
    assert [line[:4] for line in told] == ["  = ", "  = ", "  WR"]


def test_a_line_about_the_whole_chain_tells_no_note() -> None:
    """A note counts as shown by its own line: the warning must not pass for the oldest note, which can be cut."""
    told = chain_lines(deliver(chain_of(PROXY + "C  remembered about api updates A"), []), VOICE)
    assert [(line.note_id, line.must) for line in told] == [("", True), ("B", True), ("C", True), ("A", False)]


def test_a_damaged_chain_says_so_and_shows_every_member() -> None:
    """A circle has no head."""
    warning, *told = lines("A  remembered updates B \n B  remembered updates A")
    assert warning.startswith("* DAMAGED: ")
    assert [line[:20] for line in told] == ["  = no longer true: "] * 2


def test_an_expired_successor_is_named_as_what_left_the_note_unconfirmed() -> None:
    """With the day on which it ran out."""
    assert "its successor [B] expired on 2025-01-31" in lines(PROXY.replace("because", "until 30 because"))[0]


def test_the_words_of_an_erased_note_are_nowhere() -> None:
    """The tombstone has no content."""
    told = "\n".join(lines(PROXY + "-  erased B"))
    assert "it was the proxy" not in told
    assert "corrected by [B], which was erased" in told


def test_a_refinement_names_what_it_adds_to() -> None:
    """Both lead; the one says that it belongs to the other."""
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
def test_a_refinement_is_told_with_what_became_of_its_base(line: str, status_text: str) -> None:
    """It keeps its own status, but never stands as if its base still held."""
    told = lines("A  remembered \n B  remembered refines A \n" + line)
    (refinement,) = [each for each in told if "[B] (" in each]
    assert f"adds to [A], {status_text}" in refinement


@pytest.mark.parametrize("own", ["C  remembered updates B \n -  revoked C", ""])
def test_a_refinement_that_does_not_hold_itself_is_told_with_what_became_of_its_base_too(own: str) -> None:
    """Unsettled or pending, its base may still have been revoked."""
    opens = "" if own else "from 200"
    told = lines(f'A  remembered \n B  remembered refines A {opens} \n {own} \n -  revoked A because "a mix-up"')
    (refinement,) = [each for each in told if "[B] (" in each]
    assert "adds to [A], which was retracted on" in refinement
    assert '"a mix-up"' in refinement


def test_what_will_hold_is_told_as_to_come() -> None:
    """The head stays first; the successor says from when on."""
    head, coming = lines("A  remembered \n B  remembered updates A from 200")
    assert head.startswith("* A [A]")
    assert coming.startswith("  NOT TRUE BEFORE 2025-07-20: B [B]")


def test_times_of_validity_are_told() -> None:
    """A fact with an end is not told as one without."""
    (line,) = lines("A  remembered from 3 until 200")
    assert "valid from 2025-01-04; valid until 2025-07-19" in line


def test_as_of_an_earlier_day_a_note_is_marked_with_what_is_known_today() -> None:
    """What was held then leads; that it was wrong, and what came since, is said."""
    then, since = as_of("A  remembered @1 \n B  remembered corrects A @5", then=3)
    assert then.startswith("* A [A]")
    assert "KNOWN TODAY: WRONG, corrected" in then
    assert since.startswith("  since then: B [B]")


def test_as_of_an_earlier_day_a_note_that_was_revoked_since_is_marked() -> None:
    """Nothing retracted is told as true."""
    (line,) = as_of('A  remembered @1 \n -  revoked A because "a rumour" @5', then=3)
    assert 'KNOWN TODAY: RETRACTED on 2025-01-06, "a rumour"' in line


def test_as_of_an_earlier_day_a_note_that_was_revoked_again_since_has_both_reasons() -> None:
    """The status is the same then and now, the cause is not."""
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


def test_as_of_an_earlier_day_a_refinement_whose_base_fell_since_is_marked() -> None:
    """It holds then as now, but no longer beside what it was added to."""
    told = as_of('A  remembered @1 \n B  remembered refines A @2 \n -  revoked A because "a rumour" @5', then=3)
    assert ["KNOWN TODAY: adds to [A], which was retracted" in line for line in told] == [False, True]


def test_as_of_an_earlier_day_history_that_was_history_then_is_not_marked_again() -> None:
    """What replaced it then replaces it today."""
    told = as_of("A  remembered @1 \n B  remembered updates A @2 \n C  remembered updates B @5", then=3)
    assert ["KNOWN TODAY" in line for line in told] == [True, False, False]


def test_as_of_an_earlier_day_a_note_that_still_holds_is_not_marked() -> None:
    """There is nothing else to know of it."""
    assert "KNOWN TODAY" not in as_of("A  remembered @1", then=3)[0]


def test_how_often_a_chain_was_recalled_is_said_once_on_its_first_note() -> None:
    """In this session, and in all; not where it never was."""
    delivery = deliver(chain_of(PROXY), [])
    first, second = (line.text for line in chain_lines(delivery, VOICE, (2, 7)))
    assert "recalled before: 2x this session, 7x in all" in first
    assert "recalled" not in second
    assert "recalled" not in chain_lines(delivery, VOICE, (0, 0))[0].text


def test_a_retraction_is_told_as_one_with_its_reason_so_that_it_is_not_learned_again() -> None:
    """One line, and what it is stands before its words."""
    chain = chain_of('A  remembered "the port is 5432" \n -  revoked A because "that was staging"')
    (line,) = retraction_lines(chain, ["A"], VOICE)
    assert line.text.startswith("* RETRACTED on 2025-01-03: the port is 5432 [A]")
    assert line.text.endswith('- "that was staging"')


def test_a_chain_in_which_nothing_was_revoked_has_no_retraction() -> None:
    """An expired note was never withdrawn."""
    assert retraction_lines(chain_of("A  remembered until 9"), ["A"], VOICE) == ()


@given(logs())
def test_a_retraction_tells_every_revocation_that_is_newer_than_what_was_entered(log: list[Event]) -> None:
    """Where an end was revoked, the closure of what was entered is told whole."""
    for chain in chains(log, day(LATER)):
        told = {line.note_id: line.text for line in retraction_lines(chain, chain.members, VOICE)}
        revoked = {member for member in chain.members.values() if member.status is Status.REVOKED}
        assert not chain.retired or told or not revoked & {chain.members[note_id] for note_id in chain.lead}
        assert not told or all(member.revocation.reason in told[member.id] for member in revoked if member.revocation)


def test_days_are_those_of_the_readers_zone() -> None:
    """Midnight in London is morning in Auckland, and still the day before in New York."""
    new_york, auckland = (Formatter(timezone(timedelta(hours=hours))) for hours in (-5, 13))
    assert (new_york.day(day(1)), auckland.day(day(1))) == ("2025-01-01", "2025-01-02")
    assert auckland.time(day(1)) == "2025-01-02T13:00:00+13:00"


def test_further_lines_of_a_note_are_pushed_in() -> None:
    """The words themselves are kept."""
    assert indented("one\ntwo\u2028three") == "one\n      two\n      three"
