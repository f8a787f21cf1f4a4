"""Which notes bind: all of them are found, by rule, and one stops binding only for a reason in the log."""

from __future__ import annotations

import pytest
from log_text import LATER, day, log

from stilltrue.chain import chains
from stilltrue.classes import Classes, MemoryClass
from stilltrue.requirements.binding import requirements

NUTS = 'A  remembered "Priya is allergic to nuts" about priya, team as allergy \n'


def bound(text: str, *subjects: str, on: float = LATER, classes: Classes | None = None) -> str:
    """The ids of the notes that bind, chain by chain: `A | C D`. Without subjects, those for any subject."""
    found = chains(log(text), day(on))
    held = requirements(found, classes or Classes(), subjects or None)
    return " | ".join(" ".join(member.id for member in each.binding) for each in held)


def test_a_note_of_a_constraint_class_binds() -> None:
    """Its class decides, not its words or its importance."""
    assert bound(NUTS, "priya") == "A"
    assert bound(NUTS.replace("as allergy", "as fact"), "priya") == ""


def test_a_requirement_binds_for_each_subject_that_it_names_and_for_no_other() -> None:
    """Priya's allergy is about Priya and about the team."""
    assert [bound(NUTS, subject) for subject in ("priya", "team", "tom")] == ["A", "A", ""]
    assert bound(NUTS, "tom", "team") == "A"


def test_without_subjects_the_requirements_of_every_subject_count() -> None:
    """Nothing is left out for lack of a name."""
    assert bound(NUTS + "B  remembered about tom as do_not_contact") == "A | B"


@pytest.mark.parametrize(
    "line",
    [
        "-  revoked A",
        "-  erased A",
        "B  remembered about priya as allergy updates A",
    ],
)
def test_a_requirement_ends_when_it_is_revoked_erased_or_replaced(line: str) -> None:
    """Only an event in the log ends it."""
    assert "A" not in bound(NUTS + line, "priya")


def test_a_successor_of_the_same_class_binds_in_its_place() -> None:
    """The chain is still a requirement, with its new text."""
    assert bound(NUTS + "B  remembered about priya as allergy corrects A", "priya") == "B"


def test_a_requirement_whose_successor_was_revoked_still_binds() -> None:
    """Nobody knows whether it holds, so it fails closed."""
    assert bound(NUTS + "B  remembered about priya as fact updates A \n -  revoked B", "priya") == "A"


def test_a_requirement_whose_successor_has_expired_binds_again() -> None:
    """A requirement that was lifted for a month binds after it, not confirmed."""
    lifted = NUTS + "B  remembered about priya as fact updates A until 30"
    assert [bound(lifted, "priya", on=moment) for moment in (29, 30)] == ["", "A"]


def test_a_requirement_binds_until_the_time_of_its_successor_has_come() -> None:
    """A successor that is still pending lifts nothing."""
    announced = NUTS + "B  remembered about priya as fact updates A from 30"
    assert [bound(announced, "priya", on=moment) for moment in (29, 30)] == ["A", ""]


def test_a_requirement_binds_only_within_its_own_validity() -> None:
    """It does not bind before it begins or after it ends."""
    rule = "A  remembered about priya as hard_preference from 10 until 20"
    assert [bound(rule, "priya", on=moment) for moment in (9, 10, 19, 20)] == ["", "A", "A", ""]


def test_the_subjects_of_the_notes_that_still_hold_decide() -> None:
    """The successor no longer names Tom, so it is not a requirement for him."""
    narrowed = "A  remembered about priya, tom as allergy \n B  remembered about priya as allergy updates A"
    assert [bound(narrowed, subject) for subject in ("priya", "tom")] == ["B", ""]


def test_both_sides_of_a_contested_requirement_bind() -> None:
    """Until somebody settles it, both are respected."""
    assert bound(NUTS + "B  remembered as allergy updates A \n C  remembered as allergy updates A", "team") == "B C"


def test_a_refinement_of_a_requirement_binds_beside_it() -> None:
    """Both hold and are delivered together."""
    assert bound(NUTS + "B  remembered about priya as allergy refines A", "priya") == "A B"


def test_a_requirement_caught_in_a_circle_still_binds() -> None:
    """Nobody can say what holds in it, so all of its requirements bind."""
    circle = "A  remembered as allergy updates B \n B  remembered as allergy updates A"
    assert bound(circle, "team") == "A B"


def test_a_circle_hides_no_requirement_behind_another_that_holds() -> None:
    """A current refinement beside the circle does not replace the notes that are caught in it."""
    circle = """
        A  remembered as allergy updates B
        B  remembered as allergy updates A
        C  remembered as allergy refines A
    """
    assert bound(circle, "team") == "A B C"


def test_a_circle_in_its_chain_does_not_make_a_revoked_note_bind() -> None:
    """Only what the circle makes undecidable binds; that a note was revoked is certain."""
    circle = """
        A  remembered as allergy updates B
        B  remembered as allergy updates A
        C  remembered as allergy refines A
        -  revoked C
    """
    assert bound(circle, "team") == "A B"


def test_the_configuration_decides_which_classes_bind() -> None:
    """A class of your own can bind; a class that is no longer configured does not."""
    own = Classes([MemoryClass("house_rule", requirement=True)])
    assert bound("A  remembered as house_rule", "team", classes=own) == "A"
    assert bound(NUTS, "priya", classes=own) == ""


def test_a_class_that_is_not_configured_is_an_ordinary_one_that_does_not_decay() -> None:
    """A store can outlive its configuration."""
    unknown = Classes().of("moon_phase")
    assert (unknown.requirement, unknown.half_life_days, unknown.cardinality) == (False, None, "many")


def test_the_default_constraint_classes_are_those_whose_omission_can_hurt() -> None:
    """They have no half-life: a requirement does not fade."""
    classes = Classes()
    assert classes.requirements == {
        "allergy",
        "accessibility",
        "legal_restriction",
        "do_not_contact",
        "hard_preference",
    }
    assert all(classes[name].half_life_days is None for name in classes.requirements)
