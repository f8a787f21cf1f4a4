"""Dutch."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

DUTCH = Language(
    markers=words(
        "de het een en is zijn wat wie waar wanneer hoe waarom welke welk in op van met voor te hebben heeft had "
        "hadden was "
        "waren we wij ik hij zij ze onze mijn zijn haar niet dat dit die er aan bij naar om als tot onze kost"
    ),
    months=(
        "januari|jan", "februari|feb", "maart|mrt", "april|apr", "mei", "juni|jun", "juli|jul", "augustus|aug",
        "september|sept|sep", "oktober|okt", "november|nov", "december|dec",
    ),
    weekdays=("maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"),
    seasons=("lente|voorjaar", "zomer", "herfst|najaar", "winter"),
    units=units(
        {
            "day": ("dag", "dagen"),
            "week": ("week", "weken"),
            "month": ("maand", "maanden"),
            "year": ("jaar", "jaren"),
        },
        quarter=("month", 3, "kwartaal", "kwartalen"),
        decade=("year", 10, "decennium", "decennia"),
    ),
    numbers=numbers(
        "een/één twee drie vier vijf zes zeven acht negen tien elf twaalf",
        few="een paar|paar|enkele|enige|een aantal|verschillende",
        n14="veertien",
        n20="twintig",
        n30="dertig",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "vorige|vorig|laatste|afgelopen|voorbije|verleden",
        Sign.THIS: "deze|dit",
        Sign.NEXT: "volgende|volgend|komende|komend|elke|elk|iedere|ieder|per|aanstaande",
        Sign.AGO: "geleden|terug > ,",
        Sign.IN: "in|op|tijdens|gedurende|rond|anno|om",
        Sign.TO: "t/m|tot en met",
        Sign.TO_OR_UNTIL: "tot|tot aan",
        Sign.SINCE: "sinds|vanaf|sedert",
        Sign.AFTER: "na",
        Sign.BEFORE: "voor|vóór",
        Sign.BETWEEN: "tussen",
        Sign.AND: "en",
        Sign.AS_OF: "per > 1|met stand van|stand van|op peildatum",
        Sign.ARTICLE: "de|het|'s",
        Sign.OF: "van|van de|van het",
        Sign.WEEKEND: "weekend|weekeinde",
        Sign.DECADES: "jaren",
        Sign.COUNTED: "stappen|regels|bestanden|euro|meter|km|kg|woorden|pagina's|mensen|personen|keer|punten|uur|"
            "minuten",
        Sign.LABEL: "poort|kamer|versie|pagina|nummer|office|windows|model|gpt|hoofdstuk|regel|code|zaal|vlucht",
        Sign.EARLIEST: "oorspronkelijk|aanvankelijk|in het begin|in eerste instantie|eerst > was",
        Sign.PAST: "|".join((
            "vroeger > was", "destijds", "toentertijd", "in het verleden", "voorheen", "eertijds", "ooit > was",
            "voormalige",
            "voormalig", "tot voor kort", "lang geleden", "een tijd geleden", "als kind", "als kinderen",
            "als kleuter",
            "als baby", "als tiener", "toen ik klein was", "toen ik jong was", "in mijn jeugd", "in zijn jeugd",
            "in haar jeugd",
            "in mijn kindertijd", "niet meer > geldig", "het oude > adres", "het oude > wachtwoord",
            "het oude > nummer",
            "de geschiedenis > van ons", "de geschiedenis > van het project",
        )),
        Sign.PAST_IF_TOLD: "vroeger|eerder|daarvoor|voordat|voor de|voor het|toen|ooit",
        Sign.FUTURE: "morgen|overmorgen|zal|zullen|gaan",
        Sign.OTHER: "vroeger dan|eerder dan|laatste stap|per dag|per week|per maand|per jaar|op een dag|voor het "
            "eerst",
    }),
    values=MappingProxyType({
        "gisteren": (Sign.RELATIVE, (Unit("day"), -1)),
        "gisteravond": (Sign.RELATIVE, (Unit("day"), -1)),
        "eergisteren": (Sign.RELATIVE, (Unit("day"), -2)),
        "vandaag": (Sign.RELATIVE, (Unit("day"), 0)),
        "vanmorgen": (Sign.RELATIVE, (Unit("day"), 0)),
        "vanochtend": (Sign.RELATIVE, (Unit("day"), 0)),
        "half jaar": (Sign.PERIOD, (Count(6), Unit("month"))),
        "een half jaar": (Sign.PERIOD, (Count(6), Unit("month"))),
        "eind": (Sign.PART, "end"), "begin": (Sign.PART, "start"), "midden": (Sign.PART, "middle"),
        "het einde van": (Sign.PART, "end"), "het begin van": (Sign.PART, "start"),
        "eerste": (Sign.ORDINAL, 1), "tweede": (Sign.ORDINAL, 2), "derde": (Sign.ORDINAL, 3),
        "vierde": (Sign.ORDINAL, 4),
        **{
            f"jaren {name}": (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "vijftig"), (60, "zestig"), (70, "zeventig"), (80, "tachtig"), (90, "negentig"))
        },
    }),
    past=PastTense(
        words=words(
            "was waren had hadden zei zeiden ging gingen kwam kwamen woonde woonden werkte heette deed deden nam "
            "zag at aten "
            "schreef sprak wilde wilden wou moest mocht kon konden vond bleef liep speelde hield bracht dacht wist "
            "droeg koos "
            "kozen reed sliep leefde gebeurde kreeg werd werden gaf gaven gebruikten betaalden kostte"
        ),
        shapes=(("ge", "d"), ("ge", "t"), ("ge", "en"), ("be", "t"), ("be", "d"), ("be", "en"), ("ver", "d"),
        ("ver", "t"),
                ("ver", "en"), ("af", "en"), ("", "eerd")),
        not_shapes=words("geld goed gebied geen gaat geeft betaalt beneden verschillende geschiedenis gezond "
            "besluiten betalen "
                         "vergeten begrijpen beginnen verkopen"),
        auxiliaries=words("heeft hebben heb hebt is zijn ben bent had hadden"),
    ),
    bare_years=True,
)  # fmt: skip
