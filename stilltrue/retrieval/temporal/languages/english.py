"""English."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

_USED_TO = (  # states and habits; "used to lint" is a purpose
    "be have live work like love hate own know think believe prefer belong cost mean want go play eat drink sit stay "
    "call teach study smoke speak wear drive share rent support keep"
)
_PURPOSES = "lint test build deploy run sign check train format compile release publish send store measure"
_OLD = (
    "address number port password name email job value setting phone plan price version policy rule url office flat"
)

ENGLISH = Language(
    markers=words(
        "the of and to in is it that what which who where when how why does do did was were are has have had for "
        "with "
        "on we our us she he they her his their my you your me i this from be will can should may there not any "
        "about "
        "by at a an"
    ),
    months=(
        "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun", "july|jul", "august|aug",
        "september|sept|sep", "october|oct", "november|nov", "december|dec",
    ),
    weekdays=(
        "monday|mon", "tuesday|tue|tues", "wednesday|wed", "thursday|thu|thurs", "friday|fri", "saturday", "sunday",
    ),
    seasons=("spring|springtime", "summer|summertime", "autumn|fall", "winter|wintertime"),
    units=units(
        {
            "day": ("day", "days"),
            "week": ("week|wk", "weeks|wks"),
            "month": ("month", "months"),
            "year": ("year|yr", "years|yrs"),
        },
        fortnight=("week", 2, "fortnight", "fortnights"),
        quarter=("month", 3, "quarter", "quarters"),
        decade=("year", 10, "decade", "decades"),
    ),
    numbers=numbers(
        "one/a/an two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
        few="a few|few|many|several|some|a number of",
        n2="couple|a couple|a couple of|couple of",
        n20="twenty",
        n30="thirty",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "last|previous > month|previous > week|previous > year|previous > quarter",
        Sign.ROLLING: "the last|past|the past|recent|these past|these last",
        Sign.THIS: "this",
        Sign.NEXT: "next|every|each|coming|upcoming|following|per",
        Sign.AGO: "ago|back > ,|earlier > than today",
        Sign.IN: "in|during|over|throughout|within|back in|at|on|by|as early as|around|sometime in|all through|for",
        Sign.TO: "to|through|thru|up to",
        Sign.TO_OR_UNTIL: "until|till|til|up until",
        Sign.SINCE: "since|ever since|starting|as from|from > the beginning of",
        Sign.AFTER: "after|post",
        Sign.BEFORE: "before|prior to|pre|earlier than",
        Sign.BETWEEN: "between",
        Sign.AND: "and",
        Sign.FROM: "from|dating from",
        Sign.AS_OF: "as of|as at",
        Sign.ARTICLE: "the",
        Sign.OF: "of",
        Sign.WEEKEND: "weekend",
        Sign.COUNTED: (
            "steps|lines|units|files|rows|rooms|tokens|words|bytes|items|users|people|times|points|pieces|pages|"
            "requests|dollars|euros|pounds|meters|metres|miles|km|kg|mb|gb|kb|ms|seconds|minutes|hours|days|"
            "characters|"
            "chars|pixels|degrees|percent|copies|cases|calls|records|entries|places|parts|samples|feet|watts|calories"
        ),
        Sign.LABEL: (
            "port|room|version|page|number|office|windows|server|ticket|issue|model|gpt|chapter|line|code|pin|total "
            "of|"
            "sum of|average of|maximum of|minimum of|out of|price of|value of|capacity of|limit of|id|flight|bus|"
            "error"
        ),
        Sign.EARLIEST: (
            "originally|initially|at first|in the beginning|to begin with|at the outset|at the very beginning|"
            "the very first|our first ever|from the outset|to start with|the first > time"
        ),
        Sign.PAST: "|".join((
            "previously", "formerly", "former", "in former times", "back then", "in the old days", "back in the day",
            "history of > the", "history of > our", "history of > my", "history of > this", "history of > her",
            "history of > his", "history of > their", "no longer", "over time > change", "in those days", "ex > boss",
            "until recently", "until not long ago", "up until recently", "long ago", "a long time ago",
            "ages ago", "a while ago", "a while back", "some time ago", "once > lived", "in days gone by",
            "as a child", "as a kid", "as a boy", "as a girl", "as a teenager", "as a teen", "as a baby",
            "as a toddler",
            "as children", "as kids", "in my childhood", "in her childhood", "in his childhood", "during childhood",
            "in childhood", "in my youth", "in her youth", "in his youth", "when i was", "when she was",
            "when he was",
            "when we were", "when they were", "growing up", "my previous", "her previous", "his previous",
            "our previous", "their previous", "the previous",
            "we used to", "i used to", "you used to", "they used to", "he used to", "she used to", "it used to",
            "there used to", "use to > be", *(f"used to > {verb}" for verb in _USED_TO.split()),
            *(f"the old > {noun}" for noun in _OLD.split()), *(f"my old > {noun}" for noun in _OLD.split()),
            *(f"{whose} old > {noun}" for whose in ("her", "his", "our", "their") for noun in _OLD.split()),
        )),
        Sign.PAST_IF_TOLD: (
            "before the|before that|before we|before i|before she|before he|before they|before it|before our|before "
            "my|"
            "before moving|before switching|prior to|at the time|at that time|over time|earlier|once|by then"
        ),
        Sign.IN_THE_PAST: "in the past",
        Sign.FUTURE: "will|won't|shall|going to|tomorrow|'ll",
        Sign.OTHER: "|".join((
            "at first glance", "at first sight", "at first light", "at the time of > writing", "no longer than",
            "one day", "some day", "these days", "last name", "last names", "last but", "last mile", "last resort",
            "last call", "last step", "last minute", "at last", "at long last", "last one", "last time > zone",
            "as a child process", "as a child node", "as a child element", "as a child of", "as a child class",
            "as a child seat", "child process", "march madness", "spring boot", "spring framework", "spring security",
            "spring data", "spring cloud", "spring mvc", "spring cleaning", "spring roll", "spring rolls",
            "spring water",
            "summer school", "summer house", "summer camp", "winter tyres", "winter tires", "winter coat",
            "fall back",
            "fall short", "fall asleep", "fall apart", "fall in love", "fall into", "fall off", "fall for", "to fall",
            "may be", "past tense", "past participle", "past participles", "past due", "go past", "walk past",
            "second hand", "first of all", "this one", "once a", "once the", "once per", "once i", "once you",
            "at once",
            "once more", "the day after", "in a day", "in a week", "per day",
            "from time to time", "in time", "on time",
            "is used to", "are used to", "be used to", "being used to", "get used to", "got used to",
            "getting used to",
            "was used to", "were used to", "been used to", "becoming used to",
            *(f"{who} used to {verb}" for who in ("we", "i", "you", "they") for verb in _PURPOSES.split()),
            "trust in", "believe in", "believes in", "believed in", "confide in", "confides in", "interested in",
            "born to be", "history of art", "the previous > page", "previous > commit", "a fall", "rise and fall",
            "following up", "follow on", "earlier than planned", "sooner or later",
        )),
    }),
    values=MappingProxyType({
        "yesterday": (Sign.RELATIVE, (Unit("day"), -1)),
        "yesterday morning": (Sign.RELATIVE, (Unit("day"), -1)),
        "yesterday evening": (Sign.RELATIVE, (Unit("day"), -1)),
        "last night": (Sign.RELATIVE, (Unit("day"), -1)),
        "the other day": (Sign.PAST, None),
        "the day before yesterday": (Sign.RELATIVE, (Unit("day"), -2)),
        "day before yesterday": (Sign.RELATIVE, (Unit("day"), -2)),
        "the week before last": (Sign.RELATIVE, (Unit("week"), -2)),
        "the month before last": (Sign.RELATIVE, (Unit("month"), -2)),
        "the year before last": (Sign.RELATIVE, (Unit("year"), -2)),
        "today": (Sign.RELATIVE, (Unit("day"), 0)),
        "earlier today": (Sign.RELATIVE, (Unit("day"), 0)),
        "this morning": (Sign.RELATIVE, (Unit("day"), 0)),
        "this afternoon": (Sign.RELATIVE, (Unit("day"), 0)),
        "this evening": (Sign.RELATIVE, (Unit("day"), 0)),
        "earlier this week": (Sign.RELATIVE, (Unit("week"), 0)),
        "earlier this month": (Sign.RELATIVE, (Unit("month"), 0)),
        "earlier this year": (Sign.RELATIVE, (Unit("year"), 0)),
        "half a year": (Sign.PERIOD, (Count(6), Unit("month"))),
        "a year and a half": (Sign.PERIOD, (Count(18), Unit("month"))),
        "half a decade": (Sign.PERIOD, (Count(5), Unit("year"))),
        "the end of": (Sign.PART, "end"), "late": (Sign.PART, "end"), "late in": (Sign.PART, "end"),
        "the beginning of": (Sign.PART, "start"), "the start of": (Sign.PART, "start"),
        "early": (Sign.PART, "start"), "early in": (Sign.PART, "start"),
        "the middle of": (Sign.PART, "middle"), "mid": (Sign.PART, "middle"),
        "first": (Sign.ORDINAL, 1), "second": (Sign.ORDINAL, 2), "third": (Sign.ORDINAL, 3),
        "fourth": (Sign.ORDINAL, 4),
        **{
            phrase.format(name=name): (Sign.DECADE, str(decade))
            for name, decade in (("twenties", 1920), ("thirties", 1930), ("forties", 1940), ("fifties", 1950),
                                 ("sixties", 1960), ("seventies", 1970), ("eighties", 1980), ("nineties", 1990))
            for phrase in ("the {name}",)
        },
    }),
    past=PastTense(
        words=words(
            "did was were had happened said told went came got made took bought ate saw met spent gave broke wrote "
            "chose "
            "sent knew thought found began won lost ran drank drove slept wore built been been been didn't wasn't "
            "weren't felt held paid taught sold kept grew flew sang lived worked decided agreed settled"
        ),
        shapes=(("", "ed"),),
        not_shapes=words("need speed feed seed breed bed red wed shed embed indeed exceed proceed succeed allowed"),
        present=words("is are am be do does can could should must will shall may might would"),
    ),
    capital_months=frozenset({"may", "march", "mar"}),
    names=frozenset({"jan", "april", "may", "june", "august"}),
    not_before_years=frozenset({"on", "at", "for", "by"}),
    day_first=False,
    titles=True,
)  # fmt: skip
