"""German."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

GERMAN = Language(
    markers=words(
        "der die das den dem des ein eine einen und ist sind was wer wo wann wie warum welche welcher welches "
        "welchen hat "
        "haben hatte hatten war waren wir ich sie er es ihr mein meine unser unsere nicht mit von zu im am vor seit "
        "für "
        "als auf bei wird werden hieß wohin woher wem wen gab wurde wurden bis nach"
    ),
    months=(
        "januar|jan|jänner|januars", "februar|feb|feber", "märz|mär|mrz", "april|apr", "mai", "juni|jun", "juli|jul",
        "august|aug", "september|sept|sep", "oktober|okt", "november|nov", "dezember|dez",
    ),
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag|sonnabend", "sonntag"),
    seasons=("frühling|frühjahr|frühlings", "sommer|sommers", "herbst|herbstes", "winter|winters"),
    units=units(
        {
            "day": ("tag|tages", "tage|tagen"),
            "week": ("woche", "wochen"),
            "month": ("monat|monats", "monate|monaten"),
            "year": ("jahr|jahres|jahre > 19|jahre > 20", "jahre|jahren"),
        },
        quarter=("month", 3, "quartal|quartals", "quartale|quartalen"),
        decade=("year", 10, "jahrzehnt", "jahrzehnte|jahrzehnten"),
    ),
    numbers=numbers(
        "ein/eine/einem/einer/einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        few="ein paar|paar|einige|einigen|mehrere|mehreren|wenige|wenigen",
        n14="vierzehn",
        n20="zwanzig",
        n30="dreißig",
    ),
    phrases=MappingProxyType({
        Sign.LAST: (
            "letzte|letzten|letzter|letztes|letztem|vorige|vorigen|voriger|voriges|vergangene|vergangenen|"
            "vergangenes|"
            "vergangener"
        ),
        Sign.THIS: "diese|diesen|dieser|dieses|diesem",
        Sign.NEXT: (
            "nächste|nächsten|nächster|nächstes|nächstem|kommende|kommenden|kommendes|kommender|jede|jeden|jedes|"
            "jeder|"
            "jedem|pro"
        ),
        Sign.VOR: "vor",
        Sign.IN: "in|im|am|um|während|über|in den|an|ums|anno",
        Sign.TO_OR_UNTIL: "bis|bis zum|bis zu|bis in",
        Sign.SINCE: "seit|seit dem|seit der|ab|seit anfang > des jahres",
        Sign.AFTER: "nach|nach dem",
        Sign.BETWEEN: "zwischen",
        Sign.AND: "und",
        Sign.FROM: "von|vom",
        Sign.AS_OF: "stand|zum stand|mit stand|per stichtag",
        Sign.ARTICLE: "der|die|das|den|dem|des",
        Sign.WEEKEND: "wochenende",
        Sign.COUNTED: (
            "schritte|schritten|zeilen|dateien|stück|schrauben|euro|meter|metern|kilometer|km|kg|mb|gb|zeichen|"
            "wörter|"
            "seiten|leute|leuten|personen|menschen|punkte|punkten|stunden|minuten|sekunden|teile|teilen|anfragen|grad"
        ),
        Sign.LABEL: (
            "port|raum|zimmer|version|seite|nummer|nr|office|windows|server|ticket|modell|gpt|kapitel|zeile|code|pin|"
            "artikel|fehler|flug|linie|summe|brauchen|kosten|kostet"
        ),
        Sign.EARLIEST: "ursprünglich|anfangs|zu beginn|am anfang|zuerst > einmal|zunächst|ganz am anfang",
        Sign.PAST: "|".join((
            "damals", "früher > war", "ehemals", "ehemalige", "ehemaligen", "ehemaliger", "ehemaliges", "einst",
            "vormals", "in der vergangenheit", "bis vor kurzem", "bis kürzlich", "vor langer zeit",
            "vor kurzem > noch",
            "als kind", "als kinder", "als kleines kind", "als baby", "als jugendliche", "als jugendlicher",
            "als teenager",
            "in meiner kindheit", "in seiner kindheit", "in ihrer kindheit", "in der kindheit", "in meiner jugend",
            "in seiner jugend", "in ihrer jugend", "als ich klein war", "als ich jung war", "nicht mehr > gültig",
            "die geschichte > des", "die geschichte > unserer", "geschichte > unseres", "seinerzeit", "zu jener zeit",
            "frühere", "früheren", "früherer", "früheres", "die alte > adresse", "die alte > nummer",
            "das alte > passwort",
        )),
        Sign.PAST_IF_TOLD: "früher|vorher|zuvor|bevor|vor dem|vor der|einmal",
        Sign.FUTURE: "werden|wird|werde|wirst|morgen|übermorgen",
        Sign.OTHER: "heute abend|letzten endes|vor allem|so früh|früher als|am tag|pro tag|am wenigsten|es war "
            "einmal",
    }),
    values=MappingProxyType({
        "gestern": (Sign.RELATIVE, (Unit("day"), -1)),
        "gestern abend": (Sign.RELATIVE, (Unit("day"), -1)),
        "vorgestern": (Sign.RELATIVE, (Unit("day"), -2)),
        "heute": (Sign.RELATIVE, (Unit("day"), 0)),
        "heute morgen": (Sign.RELATIVE, (Unit("day"), 0)),
        "heute früh": (Sign.RELATIVE, (Unit("day"), 0)),
        "heuer": (Sign.RELATIVE, (Unit("year"), 0)),
        "vorletzte woche": (Sign.RELATIVE, (Unit("week"), -2)),
        "vorletzten monat": (Sign.RELATIVE, (Unit("month"), -2)),
        "vorletztes jahr": (Sign.RELATIVE, (Unit("year"), -2)),
        "einem halben jahr": (Sign.PERIOD, (Count(6), Unit("month"))),
        "halben jahr": (Sign.PERIOD, (Count(6), Unit("month"))),
        "ende": (Sign.PART, "end"), "anfang": (Sign.PART, "start"), "mitte": (Sign.PART, "middle"),
        "am anfang des": (Sign.PART, "start"), "zu beginn des": (Sign.PART, "start"),
        "erstes": (Sign.ORDINAL, 1), "ersten": (Sign.ORDINAL, 1), "zweites": (Sign.ORDINAL, 2),
        "zweiten": (Sign.ORDINAL, 2), "drittes": (Sign.ORDINAL, 3), "dritten": (Sign.ORDINAL, 3),
        "viertes": (Sign.ORDINAL, 4), "vierten": (Sign.ORDINAL, 4),
        **{
            form: (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "fünfziger"), (60, "sechziger"), (70, "siebziger"), (80, "achtziger"), (90,
            "neunziger"))
            for form in (f"{name} jahre", f"{name} jahren", f"{name}n")
        },
    }),
    past=PastTense(
        words=words(
            "war waren warst hatte hatten hattest wurde wurden gab ging kam sagte sagten wohnte wohnten lebte "
            "arbeitete "
            "hieß machte machten nahm sah fuhr aß schrieb sprach wollte wollten sollte mochte konnte musste durfte "
            "fand blieb lief spielte hielt brachte dachte wusste trug kostete benutzten nutzten verwendeten"
        ),
        shapes=(("ge", "t"), ("ge", "en"), ("be", "t"), ("ver", "t"), ("er", "t"), ("ent", "t"), ("be", "en"),
        ("ver", "en"),
                ("ent", "en"), ("er", "en"), ("an", "en"), ("auf", "en"), ("aus", "t"), ("", "iert")),
        not_shapes=words(
            "gibt geht gehen geben gestern gelten gerne genug gegen gehört gut general gesund beiden besten ersten "
            "ersatz "
            "erste anderen verschiedenen einigen es essen erledigen bekommen bezahlen verwenden benutzen erreichen "
            "verkaufen verstehen erhalten behalten entscheiden anrufen ausgehen aufstehen geschäft gericht bett gebt"
        ),
        auxiliaries=words("hat haben habe hast habt ist bin seid"),
    ),
    bare_years=True,
)  # fmt: skip
