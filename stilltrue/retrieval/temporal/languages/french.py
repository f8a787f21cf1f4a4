"""French."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

FRENCH = Language(
    markers=words(
        "le la les un une des du de et est sont que qui quoi où quand comment pourquoi quel quelle quels quelles "
        "dans en "
        "au aux il elle nous vous ils elles on je notre mon ma mes son sa ses ce cette ces avec pour sur pas était "
        "étaient avons avez ont qu l d c s"
    ),
    months=(
        "janvier|janv", "février|févr", "mars", "avril|avr", "mai", "juin", "juillet|juil", "août", "septembre|sept",
        "octobre|oct", "novembre|nov", "décembre|déc",
    ),
    weekdays=("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    seasons=("printemps", "été", "automne", "hiver"),
    units=units(
        {
            "day": ("jour|journée", "jours|journées"),
            "week": ("semaine", "semaines"),
            "month": ("mois", ""),
            "year": ("an|année", "ans|années"),
        },
        fortnight=("week", 2, "quinzaine", ""),
        quarter=("month", 3, "trimestre", "trimestres"),
        decade=("year", 10, "décennie", "décennies"),
    ),
    numbers=numbers(
        "un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        few="quelques|plusieurs",
        n15="quinze",
        n20="vingt",
        n30="trente",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "dernier|dernière|passé|passée|précédent|précédente",
        Sign.ROLLING: "derniers|dernières|passés|passées|ces derniers|ces dernières",
        Sign.THIS: "ce|cet|cette",
        Sign.NEXT: "prochain|prochaine|prochains|prochaines|chaque|tous les|toutes les|suivant|suivante|par",
        Sign.AGO_BEFORE: "il y a|voilà|ça fait",
        Sign.IN: "en|dans|durant|pendant|lors de|au cours de|au|vers|courant|le",
        Sign.TO_OR_IN: "à",
        Sign.TO_OR_UNTIL: "jusqu'en|jusqu'à|jusqu'au|jusque|et > jusqu'à",
        Sign.SINCE: "depuis|à partir de|dès|à partir du",
        Sign.AFTER: "après",
        Sign.BEFORE: "avant",
        Sign.BETWEEN: "entre",
        Sign.AND: "et",
        Sign.AS_OF: "en date de|en date du|à la date de|à la date du|à fin",
        Sign.ARTICLE: "la|les|l'",
        Sign.OF: "de|du|des|d'|de l'|de la",
        Sign.WEEKEND: "week-end|weekend",
        Sign.DECADES: "années",
        Sign.COUNTED: "étapes|lignes|fichiers|euros|mètres|km|kg|mots|pages|personnes|fois|points|heures|minutes|"
            "chambres",
        Sign.LABEL: "port|chambre|version|page|numéro|office|windows|modèle|gpt|chapitre|ligne|code|salle|vol|ticket",
        Sign.EARLIEST: "à l'origine|initialement|au début|au départ|au commencement|tout d'abord > était|"
            "originellement",
        Sign.PAST: "|".join((
            "auparavant", "autrefois", "jadis", "dans le passé", "par le passé", "à l'époque", "ancien nom",
            "ancienne adresse",
            "ancien numéro", "ancien mot de passe", "jusqu'à récemment", "il n'y a pas longtemps", "il y a longtemps",
            "dans mon enfance", "dans son enfance", "enfant , > je", "quand j'étais", "quand elle était",
            "quand il était",
            "lorsque j'étais", "étant enfant", "étant petit", "étant petite", "dans ma jeunesse", "dans sa jeunesse",
            "l'histoire > de notre", "l'historique", "anciennement", "précédemment", "antérieurement", "naguère",
        )),
        Sign.PAST_IF_TOLD: "avant|avant le|avant la|avant que|enfant|n'est plus",
        Sign.FUTURE: "demain|après-demain|va|vont|allons|sera|seront",
        Sign.OTHER: "avant de|avant tout|en avant|dernier jour|un jour|par an|par mois|par jour|par semaine|mot de "
            "passe|"
        "mots de passe|en avance|ces jours-ci|d'avant-garde|tout à l'heure|il y a un|il y a une|il y a de|il y a des",
    }),
    values=MappingProxyType({
        "hier": (Sign.RELATIVE, (Unit("day"), -1)),
        "hier soir": (Sign.RELATIVE, (Unit("day"), -1)),
        "avant-hier": (Sign.RELATIVE, (Unit("day"), -2)),
        "aujourd'hui": (Sign.RELATIVE, (Unit("day"), 0)),
        "ce matin": (Sign.RELATIVE, (Unit("day"), 0)),
        "six mois": (Sign.PERIOD, (Count(6), Unit("month"))),
        "la fin de": (Sign.PART, "end"), "fin": (Sign.PART, "end"), "début": (Sign.PART, "start"),
        "le début de": (Sign.PART, "start"), "mi": (Sign.PART, "middle"), "le milieu de": (Sign.PART, "middle"),
        "premier": (Sign.ORDINAL, 1), "deuxième": (Sign.ORDINAL, 2), "troisième": (Sign.ORDINAL, 3),
        "quatrième": (Sign.ORDINAL, 4),
        **dict.fromkeys(("il y a > un an", "il y a > un mois", "il y a > une semaine", "il y a > un jour",
        "il y a > une année"), (Sign.AGO_BEFORE, None)),
        **{
            f"années {name}": (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "cinquante"), (60, "soixante"), (70, "soixante-dix"), (80, "quatre-vingt"),
                                 (90, "quatre-vingt-dix"))
        },
    }),
    past=PastTense(
        words=words(
            "était étaient étais avait avaient avais fut furent faisait allait vivait vivaient habitait habitaient "
            "disait "
            "travaillait jouait mangeait voulait voulions voulaient pouvait devait venait prenait s'appelait "
            "appelait "
            "utilisait utilisions avions étions parlait aimait "
            "buvait lisait portait restait coûtait conduisait jouaient étudiait"
        ),
        shapes=(("", "é"), ("", "ée"), ("", "és"), ("", "ées"), ("", "ait"), ("", "aient"), ("", "aîmes")),
        not_shapes=words("été café clé thé santé marché société côté fait lait congé cité qualité quantité idée "
            "musée"),
        participles=words(
            "dit fait pris mis vu bu lu eu venu venus venue voulu écrit choisi fini parti perdu reçu ouvert offert"
        ),
        auxiliaries=words("a ai as avons avez ont est sommes êtes sont était étaient"),
    ),
    capital_months=frozenset(),
    names=frozenset({"avril", "mai"}),
    quarter_letters="qt",
)  # fmt: skip
