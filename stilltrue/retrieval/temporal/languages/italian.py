"""Italian."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

ITALIAN = Language(
    markers=words(
        "il lo la i gli le un una uno di del della e è sono che chi cosa come quando dove quale quali quanto perché "
        "in nel "
        "nella con per al si suo sua mio mia nostro nostra non ci era aveva ha abbiamo hanno ho da dal agli negli"
    ),
    months=(
        "gennaio|gen", "febbraio|feb", "marzo", "aprile|apr", "maggio|mag", "giugno|giu", "luglio|lug", "agosto|ago",
        "settembre|sett|set", "ottobre|ott", "novembre|nov", "dicembre|dic",
    ),
    weekdays=("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    seasons=("primavera", "estate", "autunno", "inverno"),
    units=units(
        {
            "day": ("giorno", "giorni"),
            "week": ("settimana", "settimane"),
            "month": ("mese", "mesi"),
            "year": ("anno", "anni"),
        },
        quarter=("month", 3, "trimestre", "trimestri"),
        decade=("year", 10, "decennio", "decenni"),
    ),
    numbers=numbers(
        "un/una/uno due tre quattro cinque sei sette otto nove dieci undici dodici",
        few="alcuni|alcune|qualche|pochi|poche|diversi|diverse",
        n2="un paio di|paio di",
        n15="quindici",
        n20="venti",
        n30="trenta",
    ),
    phrases=MappingProxyType({
        Sign.LAST: "scorso|scorsa|passato|passata|ultimo|ultima|precedente",
        Sign.ROLLING: "ultimi|ultime|scorsi|scorse|passati|passate",
        Sign.THIS: "questo|questa|quest'",
        Sign.NEXT: "prossimo|prossima|prossimi|prossime|ogni|tutti i|tutte le|che viene|seguente|per|al > giorno",
        Sign.AGO: "fa|or sono",
        Sign.IN: "in|nel|nello|nella|nell'|negli|durante|verso|a|ad",
        Sign.TO: "al|all'",
        Sign.TO_OR_UNTIL: "fino a|fino al|sino al|fino all'",
        Sign.SINCE_OR_FROM: "dal|da|dall'|dalla",
        Sign.SINCE: "a partire dal|a partire da|sin dal|fin dal",
        Sign.AFTER: "dopo|dopo il",
        Sign.BEFORE: "prima di|prima del|prima della|prima dell'",
        Sign.BETWEEN: "tra|fra|tra il|fra il",
        Sign.AND: "e|e il",
        Sign.AS_OF: "alla data di|alla data del|in data",
        Sign.ARTICLE: "il|lo|la|gli|le|l'|i",
        Sign.OF: "di|del|dello|della|dell'",
        Sign.WEEKEND: "fine settimana|weekend|week-end",
        Sign.DECADES: "anni|gli anni",
        Sign.COUNTED: "passi|righe|file|euro|metri|km|kg|parole|pagine|persone|volte|punti|ore|minuti",
        Sign.LABEL: "porta|stanza|camera|versione|pagina|numero|office|windows|modello|gpt|capitolo|riga|codice|volo",
        Sign.EARLIEST: "originariamente|inizialmente|all'inizio|in origine|in principio|agli inizi",
        Sign.PAST: "|".join((
            "in precedenza", "precedentemente", "in passato", "un tempo", "una volta > era", "all'epoca",
            "a quel tempo",
            "a quei tempi", "allora > era", "fino a poco tempo fa", "fino a poco fa", "tempo fa", "molto tempo fa",
            "da bambino", "da bambina", "da bambini", "da piccolo", "da piccola", "da giovane", "da ragazzo",
            "da ragazza",
            "quando ero", "quando era", "quando eravamo", "nella mia infanzia", "nella sua infanzia",
            "in gioventù", "non più",
            "vecchio indirizzo", "vecchia password", "vecchio numero", "la storia > del nostro",
            "la storia > del progetto",
        )),
        Sign.PAST_IF_TOLD: "prima|prima che|prima del|prima della|una volta|allora",
        Sign.FUTURE: "domani|dopodomani|sarà|saranno",
        Sign.OTHER: "prima di tutto|per la prima volta|la prima|prima o poi|un giorno|al giorno|al mese|all'anno|"
            "ultimo passo|"
        "prima volta|prima classe",
    }),
    values=MappingProxyType({
        "ieri": (Sign.RELATIVE, (Unit("day"), -1)),
        "ieri sera": (Sign.RELATIVE, (Unit("day"), -1)),
        "l'altro ieri": (Sign.RELATIVE, (Unit("day"), -2)),
        "altro ieri": (Sign.RELATIVE, (Unit("day"), -2)),
        "oggi": (Sign.RELATIVE, (Unit("day"), 0)),
        "stamattina": (Sign.RELATIVE, (Unit("day"), 0)),
        "mezzo anno": (Sign.PERIOD, (Count(6), Unit("month"))),
        "la fine di": (Sign.PART, "end"), "fine": (Sign.PART, "end"), "inizio": (Sign.PART, "start"),
        "la fine del": (Sign.PART, "end"), "l'inizio del": (Sign.PART, "start"), "metà": (Sign.PART, "middle"),
        "primo": (Sign.ORDINAL, 1), "secondo": (Sign.ORDINAL, 2), "terzo": (Sign.ORDINAL, 3),
        "quarto": (Sign.ORDINAL, 4),
        **{
            f"anni {name}": (Sign.DECADE, str(1900 + decade))
            for decade, name in ((50, "cinquanta"), (60, "sessanta"), (70, "settanta"), (80, "ottanta"), (90,
            "novanta"))
        },
    }),
    past=PastTense(
        words=words(
            "era erano ero eravamo eri aveva avevano avevo avevamo fu furono stava stavano diceva viveva vivevano "
            "abitava faceva chiamava lavorava andava voleva volevamo disse fece venne ebbe usava usavamo"
        ),
        shapes=(("", "ato"), ("", "ati"), ("", "ata"), ("", "uto"), ("", "ito"), ("", "ava"), ("", "eva"), ("",
        "iva"),
                ("", "avano"), ("", "evano"), ("", "avamo"), ("", "evamo")),
        not_shapes=words("sabato privato passato aiuto vita stato contratto sito subito appuntamento mercato rivata "
            "data "
                         "insalata giornata patata strada mattinata serata prato gelato marito vestito"),
        participles=words(
            "detto fatto preso messo visto scelto deciso speso rotto scritto venuto venuti letto chiuso perso offerto"
        ),
        auxiliaries=words(
            "ha hanno ho hai abbiamo avete è sono siamo siete era erano aveva avevano aveva avevo avevamo stava"
        ),
    ),
    quarter_letters="qt",
)  # fmt: skip
