"""Spanish."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

SPANISH = Language(
    markers=words(
        "el la los las un una unos de del y es son que qué quién quiénes cómo cuándo dónde cuál cuáles cuánto por "
        "en con "
        "al se su sus mi mis nuestro nuestra no para lo le hay está están era fue había ha hemos hizo hace adónde"
    ),
    months=(
        "enero|ene", "febrero|feb", "marzo", "abril|abr", "mayo", "junio|jun", "julio|jul", "agosto|ago",
        "septiembre|setiembre|sept|sep", "octubre|oct", "noviembre|nov", "diciembre|dic",
    ),
    weekdays=("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    seasons=("primavera", "verano", "otoño", "invierno"),
    units=units(
        {
            "day": ("día", "días"),
            "week": ("semana", "semanas"),
            "month": ("mes", "meses"),
            "year": ("año", "años"),
        },
        fortnight=("week", 2, "quincena", "quincenas"),
        quarter=("month", 3, "trimestre", "trimestres"),
        decade=("year", 10, "década", "décadas"),
    ),
    numbers=numbers(
        "un/una/uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
        few="unos|unas|unos pocos|algunos|algunas|varios|varias|unos cuantos|pocos|pocas",
        n2="un par de|par de",
        n15="quince",
        n20="veinte",
        n30="treinta",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "pasado|pasada|último|última|anterior",
        Sign.ROLLING: "últimos|últimas|pasados|pasadas|estos últimos|estas últimas",
        Sign.THIS: "este|esta",
        Sign.NEXT: "próximo|próxima|próximos|próximas|que viene|cada|todos los|todas las|siguiente|por",
        Sign.AGO_BEFORE: "hace|hacía",
        Sign.AGO: "atrás",
        Sign.IN: "en|durante|el|a lo largo de|allá por|por > el año|hacia",
        Sign.TO: "a|al",
        Sign.TO_OR_UNTIL: "hasta",
        Sign.SINCE: "desde|a partir de|desde el|a partir del",
        Sign.AFTER: "después de|después del|tras",
        Sign.BEFORE: "antes de|antes del|previo a",
        Sign.BETWEEN: "entre",
        Sign.AND: "y",
        Sign.AS_OF: "a fecha de|con fecha de|a día",
        Sign.ARTICLE: "la|los|las|lo",
        Sign.OF: "de|del",
        Sign.WEEKEND: "fin de semana|finde",
        Sign.DECADES: "años|los años",
        Sign.COUNTED: "pasos|líneas|archivos|euros|metros|km|kg|palabras|páginas|personas|veces|puntos|horas|minutos",
        Sign.LABEL: "puerto|habitación|versión|página|número|office|windows|modelo|gpt|capítulo|línea|código|sala|"
            "vuelo",
        Sign.EARLIEST: "originalmente|inicialmente|al principio|en un principio|al comienzo|en un inicio|al inicio",
        Sign.PAST: "|".join((
            "anteriormente", "antiguamente", "en el pasado", "en aquel entonces", "en aquella época",
            "por aquel entonces",
            "por entonces", "hasta hace poco", "hace mucho tiempo", "hace mucho", "hace tiempo", "de niño", "de niña",
            "de niños", "de pequeño", "de pequeña", "de joven", "cuando era", "cuando éramos", "cuando eran",
            "en mi infancia",
            "en su infancia", "en mi juventud", "en su juventud", "solía", "solían", "solíamos", "ya no",
            "antigua dirección",
            "antiguo nombre", "antigua contraseña", "la historia > de nuestro", "la historia > del proyecto",
            "antaño",
        )),
        Sign.PAST_IF_TOLD: "antes|antes de que|antes de la|antes de > nuestro|entonces",
        Sign.FUTURE: "mañana|pasado mañana|va a|vamos a|van a|será|serán",
        Sign.OTHER: "antes que nada|por la mañana|de la mañana|algún día|al día|al mes|al año|a la semana|por día|"
        "último paso|cuanto antes|antes de > que|ropa de niño|ropa de niña",
    }),
    values=MappingProxyType({
        "ayer": (Sign.RELATIVE, (Unit("day"), -1)),
        "anoche": (Sign.RELATIVE, (Unit("day"), -1)),
        "anteayer": (Sign.RELATIVE, (Unit("day"), -2)),
        "antes de ayer": (Sign.RELATIVE, (Unit("day"), -2)),
        "hoy": (Sign.RELATIVE, (Unit("day"), 0)),
        "esta mañana": (Sign.RELATIVE, (Unit("day"), 0)),
        "medio año": (Sign.PERIOD, (Count(6), Unit("month"))),
        "finales de": (Sign.PART, "end"), "fines de": (Sign.PART, "end"), "principios de": (Sign.PART, "start"),
        "comienzos de": (Sign.PART, "start"), "mediados de": (Sign.PART, "middle"),
        "el final de": (Sign.PART, "end"), "el principio de": (Sign.PART, "start"),
        "primer": (Sign.ORDINAL, 1), "segundo": (Sign.ORDINAL, 2), "tercer": (Sign.ORDINAL, 3),
        "cuarto": (Sign.ORDINAL, 4),
        **{
            f"los {prefix}{name}": (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "cincuenta"), (60, "sesenta"), (70, "setenta"), (80, "ochenta"), (90,
            "noventa"))
            for prefix in ("", "años ")
        },
    }),
    past=PastTense(
        words=words(
            "era eran fue fueron había habían estaba estaban tenía tenían hizo hicimos hicieron dijo dijimos "
            "dijeron pasó "
            "vino vinieron vivía vivían hubo dio dimos puso quiso queríamos quería querían trabajaba tuvo estuvo "
            "estuvimos "
            "comimos fuimos elegimos decidimos pagamos hablamos gastamos usábamos usaba iba iban ha han hemos he"
        ),
        shapes=(("", "ó"), ("", "aron"), ("", "ieron"), ("", "aba"), ("", "aban"), ("", "ábamos"), ("", "ía"), ("",
        "ían"),
                ("", "íamos"), ("", "aste"), ("", "iste")),
        not_shapes=words("día había todavía tía panadería librería compañía energía mayoría alegría policía batería "
            "vía existe "
                         "categoría guía economía geografía fotografía cafetería garantía"),
    ),
    quarter_letters="qt",
)  # fmt: skip
