"""Japanese."""

from __future__ import annotations

from types import MappingProxyType

from stilltrue.retrieval.temporal.language import Count, Language, PastTense, Unit, numbers, units
from stilltrue.retrieval.temporal.signs import Sign

JAPANESE = Language(
    markers=frozenset(),
    months=(),
    weekdays=(
        "月曜日|月曜", "火曜日|火曜", "水曜日|水曜", "木曜日|木曜", "金曜日|金曜", "土曜日|土曜", "日曜日|日曜",
    ),
    seasons=("春", "夏", "秋", "冬"),
    units=units(
        {
            "day": ("日|日間", ""),
            "week": ("週間|週", ""),
            "month": ("ヶ月|か月|カ月|ケ月|ヵ月|箇月|ヶ月間|か月間|カ月間", ""),
            "year": ("年|年間", ""),
        },
        quarter=("month", 3, "四半期", ""),
        decade=("year", 10, "十年間", ""),
    ),
    numbers=numbers("一 二 三 四 五 六 七 八 九 十 十一 十二", few="数|何|幾", n20="二十", n30="三十"),
    phrases=MappingProxyType({
        Sign.MONTH_SUFFIX: "月",
        Sign.LAST: "前の|先",
        Sign.ROLLING: "過去|この|ここ|直近|最近の|直近の|過去の",
        Sign.NEXT: "来|次の|毎|来年|来年の|再来年|来月|来週|毎年|毎週|毎月|今度の|翌",
        Sign.MAE: "前|以前|より前",
        Sign.IN: "に|の間",
        Sign.TO: "〜|～",
        Sign.UNTIL_AFTER: "まで|までに",
        Sign.SINCE_AFTER: "から|以来|以降",
        Sign.AFTER_AFTER: "より後|の後",
        Sign.AS_OF_AFTER: "時点で|時点の|現在で",
        Sign.OF: "の",
        Sign.WEEKEND: "週末",
        Sign.DECADES: "年代",
        Sign.LABEL: "ポート|部屋|バージョン|番号|モデル|第",
        Sign.EARLIEST: "もともと|元々|最初に|最初は|当初|初めは|はじめは|そもそも",
        Sign.PAST: "|".join((
            "かつて", "昔", "昔の", "当時", "あの頃", "子供の頃", "子どもの頃", "子供の時", "子どもの時",
            "子供時代", "幼い頃",
            "小さい頃", "小さかった頃", "若い頃", "学生時代", "以前の", "以前は", "最近まで", "つい最近まで",
            "ずっと前に", "旧住所",
            "以前住", "元の住所", "もう使っていない",
        )),
        Sign.PAST_IF_TOLD: "以前|その前|それまで",
        Sign.FUTURE: "明日|あさって|明後日|つもり|予定",
        Sign.OTHER: "一番|一緒|一人|一つ|名前|駅前|人前|前後|午前|午前中|前日|手前|前菜|前提|日本|日本語|今日中|"
            "毎日|休日|先生|先に|"
        "優先|先輩|秋田|春巻き|冬眠|先端|連絡先|一日に|一年に|この人|この店|この前の席|昔話|来ま|来る|来た|来て",
    }),
    values=MappingProxyType({
        "昨日": (Sign.RELATIVE, (Unit("day"), -1)), "きのう": (Sign.RELATIVE, (Unit("day"), -1)),
        "昨夜": (Sign.RELATIVE, (Unit("day"), -1)), "昨晩": (Sign.RELATIVE, (Unit("day"), -1)),
        "一昨日": (Sign.RELATIVE, (Unit("day"), -2)), "おととい": (Sign.RELATIVE, (Unit("day"), -2)),
        "今日": (Sign.RELATIVE, (Unit("day"), 0)), "今朝": (Sign.RELATIVE, (Unit("day"), 0)),
        "今週": (Sign.RELATIVE, (Unit("week"), 0)), "今月": (Sign.RELATIVE, (Unit("month"), 0)),
        "今年": (Sign.RELATIVE, (Unit("year"), 0)), "先週": (Sign.RELATIVE, (Unit("week"), -1)),
        "先々週": (Sign.RELATIVE, (Unit("week"), -2)), "先月": (Sign.RELATIVE, (Unit("month"), -1)),
        "先々月": (Sign.RELATIVE, (Unit("month"), -2)), "去年": (Sign.RELATIVE, (Unit("year"), -1)),
        "昨年": (Sign.RELATIVE, (Unit("year"), -1)), "一昨年": (Sign.RELATIVE, (Unit("year"), -2)),
        "おととし": (Sign.RELATIVE, (Unit("year"), -2)), "前四半期": (Sign.RELATIVE, (Unit("month", 3), -1)),
        "半年": (Sign.PERIOD, (Count(6), Unit("month"))),
        **{f"第{number}四半期": (Sign.QUARTER, (at, None)) for at, number in enumerate("一二三四", 1)},
    }),
    past=PastTense(
        words=frozenset(),
        endings=("た", "たか", "ましたか", "でしたか", "ました", "でした", "たの", "っけ", "たのか", "たね",
        "たよ", "たんだ"),
    ),
    bare_years=True,
)  # fmt: skip
