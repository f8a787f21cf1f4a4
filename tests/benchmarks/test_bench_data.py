"""The hand-written benchmark data has the properties that the benchmarks rely on, measured with the real weights."""

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from store.embed.load import load_embedder

DATA = Path(__file__).parents[2] / "bench" / "data"
CLASSES = {"allergy", "accessibility", "legal_restriction", "do_not_contact", "hard_preference"}
KEYS = {
    "requirements": {
        "id", "klass", "control", "subject", "subjects", "decisive", "query", "distractors", "violation",
        "action_safe", "action_unsafe",
    },
    "separation": {"user", "id", "attribute", "note", "replacement", "retraction", "query"},
    "fillers": {"id", "topic", "text"},
    "probe": {"id", "query", "note", "distractors"},
    "cues": {"id", "note", "cues", "query"},
}  # fmt: skip

# Only function words: a longer list would hide shared words.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """a about above after again against all also am an and any anybody anyone anything are as at be because
        been before being below between both but by can cannot could did do does doing done down during each either
        else ever every everybody everyone everything for from further get gets give gives go goes had has have
        having he her here hers herself him himself his how i if in into is it its itself just let many may me might
        mine more most much must my myself need needs neither never no nobody none nor not nothing now of off often
        on once one only onto or other others our ours out over own per please rather shall she should since so some
        somebody someone something still such take takes than that the their them themselves then there these they
        thing things this those though through to too under until up upon us very was we well were what whatever
        when where whether which while who whom whose why will with within without would yes yet you your yours""",
    )
)
ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "al", "s",
    "y", "e",
)  # fmt: skip

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def stem(word: str) -> str:
    ending = next((e for e in ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
    return word.removesuffix(ending)


def content_words(text: str) -> set[str]:
    found = re.findall(r"[^\W_]+", re.sub(r"['’]s\b", "", text.lower()))
    return {stem(word) for word in found if word not in STOP_WORDS and len(word) > 1}


def word_triples(text: str) -> set[tuple[str, ...]]:
    found = re.findall(r"[^\W_]+", text.lower())
    return set(zip(found, found[1:], found[2:], strict=False))


CASES = [row for row in rows("requirements") if not row["control"]]
CONTROLS = [row for row in rows("requirements") if row["control"]]


@pytest.fixture(scope="module")
def cosines() -> dict[str, tuple[float, np.ndarray]]:
    """Per case: the query's cosine to the decisive note, and to each distractor."""
    embedder = load_embedder()
    found = {}
    for case in CASES:
        texts = [case["query"], case["decisive"]["text"], *(note["text"] for note in case["distractors"])]
        vectors = embedder.embed(texts)
        scores = vectors[1:] @ vectors[0]
        found[case["id"]] = (float(scores[0]), scores[1:])
    return found


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_row_has_exactly_the_documented_keys_and_no_empty_text(name: str) -> None:
    """Each file is one JSON object per line with the fields of the data's README; ids are unique."""
    read = rows(name)
    assert all(set(row) == KEYS[name] for row in read)
    assert all(value for row in read for key, value in row.items() if key not in {"control", "violation"})
    assert len({row["id"] for row in read}) == len(read)
    assert all(f"`{key}`" in (DATA / "README.md").read_text(encoding="utf-8") for key in KEYS[name])


def test_no_text_occurs_twice_in_all_files() -> None:
    """A repeated text would let one case decide another, so every note and query is unique."""
    requirements = rows("requirements")
    texts = [
        *(text for row in requirements for text in (row["query"], row["decisive"]["text"])),
        *(note["text"] for row in requirements for note in row["distractors"]),
        *(row[key] for row in rows("separation") for key in ("note", "replacement", "retraction", "query")),
        *(row["text"] for row in rows("fillers")),
        *(text for row in rows("probe") for text in (row["query"], row["note"], *row["distractors"])),
        *(text for row in rows("cues") for text in (row["query"], row["note"])),
    ]
    assert [text for text, count in Counter(text.lower() for text in texts).items() if count > 1] == []


def test_there_are_twelve_cases_and_two_controls_per_constraint_class() -> None:
    """60 cases and 10 controls, each about a different subject."""
    assert Counter(case["klass"] for case in CASES) == dict.fromkeys(CLASSES, 12)
    assert Counter(case["klass"] for case in CONTROLS) == dict.fromkeys(CLASSES, 2)
    assert len({case["subject"] for case in CASES + CONTROLS}) == 70
    assert all(re.fullmatch(r"[a-z0-9:-]+", case["subject"]) for case in CASES + CONTROLS)


def test_a_decisive_note_is_about_a_subject_in_play_except_in_a_control() -> None:
    """A case's decisive note names a subject in play. A control's names none, and no other text names its subject."""
    for case in CASES:
        assert case["subject"] in case["decisive"]["subjects"]
        assert set(case["decisive"]["subjects"]) & set(case["subjects"]), case["id"]
    for control in CONTROLS:
        others = " ".join([control["query"], *(note["text"] for note in control["distractors"])]).lower()
        assert not set(control["decisive"]["subjects"]) & set(control["subjects"]), control["id"]
        assert control["subject"] not in others


@pytest.mark.parametrize("case", CASES + CONTROLS, ids=lambda case: case["id"])
def test_a_query_shares_no_content_word_with_the_decisive_note(case: Row) -> None:
    """The words of the request cannot find the requirement."""
    assert content_words(case["query"]) & content_words(case["decisive"]["text"]) == set()


def test_all_distractors_are_newer_than_the_decisive_note() -> None:
    """The decisive note is 200 to 900 days old; its distractors are at most 90, and about a subject in play."""
    for case in CASES + CONTROLS:
        assert len(case["distractors"]) >= 12
        assert 200 <= case["decisive"]["age_days"] <= 900
        assert all(0 <= note["age_days"] <= 90 for note in case["distractors"])
        assert all(set(note["subjects"]) & set(case["subjects"]) for note in case["distractors"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_seven_newer_distractors_are_more_similar_than_the_decisive_note(
    case: Row, cosines: dict[str, tuple[float, np.ndarray]]
) -> None:
    """With the real weights, at least seven distractors beat the decisive note in cosine as well as in age."""
    decisive, distractors = cosines[case["id"]]
    assert int((distractors > decisive).sum()) >= 7


def test_the_plain_blend_misses_at_least_27_of_60(cosines: dict[str, tuple[float, np.ndarray]]) -> None:
    """0.7 cosine + 0.3 exp(-age / 90 days) at k = 6. This keeps the data hard."""
    missed = 0
    for case in CASES:
        decisive, distractors = cosines[case["id"]]
        ages = np.array([note["age_days"] for note in case["distractors"]])
        blend = 0.7 * distractors + 0.3 * np.exp(-ages / 90)
        missed += int((blend > 0.7 * decisive + 0.3 * np.exp(-case["decisive"]["age_days"] / 90)).sum() >= 6)
    assert missed >= 27


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_notes_suggest_the_tempting_action_and_only_the_unsafe_action_takes_it(case: Row) -> None:
    """Every violation phrase occurs in the query or a distractor; the unsafe action has one, the safe action none."""
    texts = " | ".join([case["query"], *(note["text"] for note in case["distractors"])]).lower()
    assert case["violation"]
    assert all(phrase == phrase.lower() and phrase in texts for phrase in case["violation"])
    assert any(phrase in case["action_unsafe"].lower() for phrase in case["violation"])
    assert not any(phrase in case["action_safe"].lower() for phrase in case["violation"])


def test_a_control_has_no_violation() -> None:
    """Nothing should be injected there, so no action is a violation."""
    assert all(control["violation"] == [] for control in CONTROLS)


def test_separation_has_twelve_users_with_five_attributes_or_more() -> None:
    """Twelve users with at least five attributes each, and no attribute twice for one user."""
    read = rows("separation")
    counts = Counter(row["user"] for row in read)
    assert len(counts) >= 12
    assert min(counts.values()) >= 5
    assert len({(row["user"], row["attribute"]) for row in read}) == len(read)


@pytest.mark.parametrize("row", rows("separation"), ids=lambda row: row["id"])
def test_a_separation_query_paraphrases_neither_note_nor_successor(row: Row) -> None:
    """Apart from the user's name, the query shares at most two content words with any of the three texts."""
    asked = content_words(row["query"]) - content_words(row["user"])
    assert all(len(asked & content_words(row[key])) <= 2 for key in ("note", "replacement", "retraction"))


def test_there_are_four_hundred_fillers_and_they_follow_no_template() -> None:
    """At least 400 notes on at least 20 topics, of which no more than five begin alike."""
    read = rows("fillers")
    starts = Counter(tuple(row["text"].lower().split()[:3]) for row in read)
    assert len(read) >= 400
    assert len({row["topic"] for row in read}) >= 20
    assert max(starts.values()) <= 5


@pytest.mark.parametrize("row", rows("probe"), ids=lambda row: row["id"])
def test_a_probe_note_shares_no_content_word_with_its_query_and_the_distractors_do(row: Row) -> None:
    """The lexical gap: words lead to the distractors, and only meaning leads to the answer."""
    asked = content_words(row["query"])
    assert asked & content_words(row["note"]) == set()
    assert len(row["distractors"]) >= 2
    assert all(asked & content_words(distractor) for distractor in row["distractors"])


@pytest.mark.parametrize("row", rows("cues"), ids=lambda row: row["id"])
def test_a_cue_is_written_for_the_note_and_not_copied_from_the_query(row: Row) -> None:
    """Note and query share no content word; cue and query share at most one topic word, and no phrase."""
    asked = content_words(row["query"])
    assert asked & content_words(row["note"]) == set()
    assert 1 <= len(row["cues"]) <= 3
    assert all(len(asked & content_words(cue)) <= 1 for cue in row["cues"])
    assert not set(chain.from_iterable(map(word_triples, row["cues"]))) & word_triples(row["query"])


def test_there_are_sixty_probes_and_thirty_cues() -> None:
    """The minimum sizes of the two sets."""
    assert len(rows("probe")) >= 60
    assert len(rows("cues")) >= 30
