"""Chinese, simplified and traditional."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units, words
from stilltrue.retrieval.temporal.signs import Sign

_NUMERALS = "一 二/两/兩 三 四 五 六 七 八 九 十 十一 十二"

CHINESE = Language(
    markers=frozenset(),
    months=(),
    weekdays=(
        "周一|星期一|礼拜一|週一", "周二|星期二|礼拜二|週二", "周三|星期三|礼拜三|週三", "周四|星期四|礼拜四|週四",
        "周五|星期五|礼拜五|週五", "周六|星期六|礼拜六|週六", "周日|星期日|星期天|周天|礼拜天|週日",
    ),
    seasons=("春天|春季|春", "夏天|夏季|夏", "秋天|秋季|秋", "冬天|冬季|冬"),
    units=units(
        {
            "day": ("天|日|号|號", ""),
            "week": ("周|星期|个星期|个周|週|個星期|礼拜|个礼拜", ""),
            "month": ("个月|個月", ""),
            "year": ("年", ""),
        },
        quarter=("month", 3, "季度|个季度", ""),
        decade=("year", 10, "个年代", ""),
    ),
    numbers=numbers(_NUMERALS, few="几|幾|好几|数|若干", n15="十五", n20="二十", n30="三十"),
    phrases=MappingProxyType({
        Sign.MONTH_SUFFIX: "月|月份",
        Sign.LAST: "上个|上|上一个|上個",
        Sign.ROLLING: "过去|最近|近|過去|过去的|最近的",
        Sign.THIS: "这个|这|本|這個",
        Sign.NEXT: "下个|下|下一个|每|每个|明年|明年的|后年|下個",
        Sign.MAE: "前|之前|以前",
        Sign.IN: "在|于",
        Sign.TO: "到|至",
        Sign.UNTIL: "直到|截止到",
        Sign.SINCE: "自|自从|自從",
        Sign.SINCE_AFTER: "以来|起|开始|至今|以來",
        Sign.AFTER_AFTER: "以后|之后|以後|之後",
        Sign.FROM: "从|從",
        Sign.AS_OF: "截至",
        Sign.AS_OF_AFTER: "为止",
        Sign.OF: "的",
        Sign.WEEKEND: "周末|週末",
        Sign.DECADES: "年代",
        Sign.LABEL: "端口|房间|版本|号码|模型|第",
        Sign.EARLIEST: "最初|起初|一开始|原本|最早|本来|原先|最開始",
        Sign.PAST: "|".join((
            "曾经", "曾經", "过去 > 的样子", "从前", "當時", "当时", "那时候", "那时", "当初", "原来的", "不再",
            "小时候", "小時候",
            "童年", "年轻的时候", "年轻时", "很久以前", "很久之前", "不久前", "直到最近", "前任", "以前的",
            "旧地址", "旧密码",
        )),
        Sign.PAST_IF_TOLD: "以前|之前|先前",
        Sign.FUTURE: "明天|后天|将要|将会|打算",
        Sign.OTHER: "一下|上面|上班|上海|上学|上课|上午|上网|以上|早上|晚上|身上|下午|以下|下面|下班|前面|前台|前端|"
            "前后|面前|目前|门前|"
        "提前|前往|前提|一起|起来|起床|本人|本地|日本|本子|一样|周围|第一|第二|第三|最后|过去吗|春节|秋千|冬瓜|"
        "夏令营",
    }),
    values=MappingProxyType({
        "昨天": (Sign.RELATIVE, (Unit("day"), -1)), "昨晚": (Sign.RELATIVE, (Unit("day"), -1)),
        "昨日": (Sign.RELATIVE, (Unit("day"), -1)), "前天": (Sign.RELATIVE, (Unit("day"), -2)),
        "大前天": (Sign.RELATIVE, (Unit("day"), -3)), "今天": (Sign.RELATIVE, (Unit("day"), 0)),
        "今早": (Sign.RELATIVE, (Unit("day"), 0)), "本周": (Sign.RELATIVE, (Unit("week"), 0)),
        "这周": (Sign.RELATIVE, (Unit("week"), 0)), "本月": (Sign.RELATIVE, (Unit("month"), 0)),
        "这个月": (Sign.RELATIVE, (Unit("month"), 0)), "今年": (Sign.RELATIVE, (Unit("year"), 0)),
        "去年": (Sign.RELATIVE, (Unit("year"), -1)), "前年": (Sign.RELATIVE, (Unit("year"), -2)),
        "上月": (Sign.RELATIVE, (Unit("month"), -1)), "上上周": (Sign.RELATIVE, (Unit("week"), -2)),
        "上上个月": (Sign.RELATIVE, (Unit("month"), -2)), "上世纪": (Sign.OTHER, None),
        "半年": (Sign.PERIOD, (Count(6), Unit("month"))),
        "年底": (Sign.OTHER, None), "年初": (Sign.OTHER, None),
        **{
            f"{prefix}{number}季度": (Sign.QUARTER, (at, None))
            for at, number in enumerate("一二三四", 1)
            for prefix in ("第", "")
        },
        **{
            f"{number}十年代": (Sign.DECADE, str(1900 + 10 * at)) for at, number in enumerate("五六七八九", 5)
        },
    }),
    past=PastTense(words=words("了 过 過 曾 昨") , endings=("的",)),
)  # fmt: skip
