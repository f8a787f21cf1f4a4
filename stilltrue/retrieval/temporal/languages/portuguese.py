"""Portuguese, of Portugal and Brazil."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

PORTUGUESE = Language(
    markers=words(
        "o os as um uma de do da dos das e é são que quem como quando onde qual quais quanto por em no na nos nas "
        "com ao se "
        "seu sua meu minha nosso nossa não para foi era há está estão tem tinha nós ele ela você vocês"
    ),
    months=(
        "janeiro|jan", "fevereiro|fev", "março|mar", "abril|abr", "maio|mai", "junho|jun", "julho|jul", "agosto|ago",
        "setembro|set", "outubro|out", "novembro|nov", "dezembro|dez",
    ),
    weekdays=(
        "segunda-feira|segunda", "terça-feira|terça", "quarta-feira|quarta", "quinta-feira|quinta",
        "sexta-feira|sexta",
        "sábado", "domingo",
    ),
    seasons=("primavera", "verão", "outono", "inverno"),
    units=units(
        {
            "day": ("dia", "dias"),
            "week": ("semana", "semanas"),
            "month": ("mês", "meses"),
            "year": ("ano", "anos"),
        },
        fortnight=("week", 2, "quinzena", "quinzenas"),
        quarter=("month", 3, "trimestre", "trimestres"),
        decade=("year", 10, "década", "décadas"),
    ),
    numbers=numbers(
        "um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze",
        few="alguns|algumas|uns|umas|vários|várias|poucos|poucas",
        n2="um par de|par de",
        n15="quinze",
        n20="vinte",
        n30="trinta",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "passado|passada|último|última|retrasado > mês|anterior",
        Sign.ROLLING: "últimos|últimas|passados|passadas",
        Sign.THIS: "este|esta|esse|essa|neste|nesta|nesse|nessa",
        Sign.NEXT: "próximo|próxima|próximos|próximas|que vem|cada|todos os|todas as|todo|toda|seguinte|por|que "
            "entra",
        Sign.AGO_BEFORE: "há|faz",
        Sign.AGO: "atrás",
        Sign.IN: "em|no|na|nos|nas|durante|ao longo de|pelo|por volta de",
        Sign.TO: "a|ao|à",
        Sign.TO_OR_UNTIL: "até",
        Sign.SINCE: "desde|a partir de|desde o|a partir do",
        Sign.AFTER: "depois de|após|depois do",
        Sign.BEFORE: "antes de|antes do|antes da",
        Sign.BETWEEN: "entre",
        Sign.AND: "e",
        Sign.AS_OF: "em data de|à data de|na data de",
        Sign.ARTICLE: "o|os|as",
        Sign.OF: "de|do|da|dos|das",
        Sign.WEEKEND: "fim de semana|fim-de-semana",
        Sign.DECADES: "anos|os anos",
        Sign.COUNTED: "passos|linhas|arquivos|ficheiros|euros|reais|metros|km|kg|palavras|páginas|pessoas|vezes|"
            "pontos|horas",
        Sign.LABEL: "porta|quarto|versão|página|número|office|windows|modelo|gpt|capítulo|linha|código|sala|voo",
        Sign.EARLIEST: "originalmente|inicialmente|no início|no começo|a princípio|no princípio|de início",
        Sign.PAST: "|".join((
            "anteriormente", "antigamente", "no passado", "naquela época", "naquela altura", "na altura",
            "naquele tempo",
            "na época", "até há pouco tempo", "até recentemente", "até pouco tempo atrás", "há muito tempo",
            "há muito",
            "há tempos", "em criança", "quando criança", "quando era", "quando eu era", "quando éramos",
            "quando eram",
            "quando ele era", "quando ela era", "na minha infância", "na sua infância", "na infância",
            "na minha juventude",
            "em pequeno", "em pequena", "costumava", "costumavam", "costumávamos", "já não", "outrora",
            "antigo endereço",
            "antiga morada", "antiga senha", "antigo nome", "a história > do nosso", "a história > do projeto",
        )),
        Sign.PAST_IF_TOLD: "antes|antes que|antes de > nos|então",
        Sign.FUTURE: "amanhã|depois de amanhã|vai|vamos|vão|será|serão",
        Sign.OTHER: "antes de mais|antes de tudo|algum dia|um dia|por dia|por mês|por ano|por semana|ao dia|ao mês|"
            "último passo|"
        "quanto antes|o quarto|quarto de|segunda vez|segunda mão",
    }),
    values=MappingProxyType({
        "ontem": (Sign.RELATIVE, (Unit("day"), -1)),
        "ontem à noite": (Sign.RELATIVE, (Unit("day"), -1)),
        "anteontem": (Sign.RELATIVE, (Unit("day"), -2)),
        "antes de ontem": (Sign.RELATIVE, (Unit("day"), -2)),
        "hoje": (Sign.RELATIVE, (Unit("day"), 0)),
        "esta manhã": (Sign.RELATIVE, (Unit("day"), 0)),
        "hoje de manhã": (Sign.RELATIVE, (Unit("day"), 0)),
        "meio ano": (Sign.PERIOD, (Count(6), Unit("month"))),
        "final de": (Sign.PART, "end"), "fim de": (Sign.PART, "end"), "finais de": (Sign.PART, "end"),
        "início de": (Sign.PART, "start"), "começo de": (Sign.PART, "start"), "meados de": (Sign.PART, "middle"),
        "primeiro": (Sign.ORDINAL, 1), "segundo": (Sign.ORDINAL, 2), "terceiro": (Sign.ORDINAL, 3),
        **{
            f"anos {name}": (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "cinquenta"), (60, "sessenta"), (70, "setenta"), (80, "oitenta"), (90,
            "noventa"))
        },
    }),
    past=PastTense(
        words=words(
            "era eram foi foram havia haviam estava estavam tinha tinham fez fizemos fizeram disse dissemos "
            "disseram aconteceu "
            "veio vieram vivia viviam morava moravam houve deu demos pôs quis queríamos queria queriam trabalhava "
            "teve "
            "esteve estivemos comemos fomos escolhemos decidimos pagamos falamos usávamos usava ia iam"
        ),
        shapes=(("", "ou"), ("", "aram"), ("", "eram"), ("", "iram"), ("", "ava"), ("", "avam"), ("", "ámos"), ("",
        "ávamos"),
                ("", "ia"), ("", "iam"), ("", "eu"), ("", "íamos")),
        not_shapes=words("dia padaria livraria energia maioria alegria polícia bateria via seu meu europeu museu "
            "família "
                         "história notícia categoria sou estou vou ou economia secretaria havia"),
    ),
    names=frozenset({"mai", "set", "mar"}),
    quarter_letters="qt",
)  # fmt: skip
