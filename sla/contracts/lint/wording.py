"""Own the Chinese of what validation says: phrase by phrase, with patterns where a word varies."""

from __future__ import annotations

import re

from sla.contracts.lint.findings import Wording

_PHRASES = {
    "is missing": "缺失",
    "is a question that the contract leaves open": "合同未作约定",
    "is not a key of this clause": "不是本条款的键",
    "is none of its choices": "不是可选值之一",
    "is an empty list": "是空列表",
    "is not a list": "应为列表",
    "is not a mapping of keys and values": "应为键值映射",
    "is not a list of rules, as a named period is": "命名时段应为规则列表",
    "is a mapping where one value belongs": "此处应为单个值，而非映射",
    "is a list where one value belongs": "此处应为单个值，而非列表",
    "has no value": "没有值",
    "is written twice": "重复书写",
    "has a key that is not a word": "含有非文本的键",
    "carries a YAML tag": "带有 YAML 标签",
    "is not a duration": "不是时长",
    "is finer than a microsecond": "精度细于微秒",
    "is not a number": "不是数字",
    "is not a whole number": "不是整数",
    "is not a percentage": "不是百分比",
    "is not a percentile": "不是百分位",
    "is not between 0 and 100": "不在 0 与 100 之间",
    "is not above 0": "应大于 0",
    "is not above 0% and up to 100%": "应大于 0% 且不超过 100%",
    "is a date that does not exist": "该日期不存在",
    "is not in a year that can be measured": "年份超出可计量范围",
    "is not a date": "不是日期",
    "is not a time of day": "不是时刻",
    "is empty": "为空",
    "begins or ends with a blank": "首尾有空格",
    "holds a character that cannot be seen": "含有不可见字符",
    "is neither true nor false": "应为 true 或 false",
    "is not a known time zone": "不是已知时区",
    "are not days": "不是星期或 workdays",
    "is not an outcome": "不是请求结果之一",
    "cannot be used in a file's name": "不能用于文件名",
    "is not a currency": "不是币种",
    "is not a holiday calendar": "不是节假日日历",
    "is not a signature key": "不是签名密钥",
    "is not a statistic": "不是统计量",
    "is a rate": "是速率而非时长",
    "is not a clock": "不是时钟",
    "names no period": "不是时段名称",
    "is no cap": "不是额度",
    "is not a date after the month": "不是月末之后的日期",
    "is no formula of availability": "不是可用性公式",
    "promises none of latency, availability, rate and cost": "未约定 latency、availability、rate、cost 之一",
    "lies before term.from": "早于 term.from",
    "has no text": "没有文字",
    "is shorter than the first pause": "短于首次间隔",
    "limits nothing": "未设任何限额",
    "has no condition": "没有条件",
    "has both conditions": "同时写了两种条件",
    "is no HTTP status": "不是 HTTP 状态码",
    "has the same condition as another rule": "与另一规则条件相同",
    "stands twice in its list": "在列表中重复",
    "is the name of another level too": "与另一质量等级同名",
    "belongs to another level too": "同时属于另一质量等级",
    "needs a holiday calendar": "需要节假日日历",
    "cannot be a period's name": "不能作为时段名称",
    "is the end of a day, where nothing starts": "是一日之末，不能作为起点",
    "is the same time as `from`": "与 from 相同",
    "needs to know the holidays": "需要约定节假日",
    "asks for moved workdays of a calendar that moves none": "该日历没有调休日",
    "is the name of another objective too": "与另一指标同名",
    "promises more than one thing": "约定了不止一件事",
    "names a period that the calendar does not define": "日历中没有该时段",
    "has two edges on one side": "同一侧有两个边界",
    "has no edge": "没有边界",
    "holds no number at all": "范围为空",
    "has no windows to combine": "没有可合并的窗口",
    "has no minimum to be below": "未约定最小请求数",
    "names no objective of this contract": "合同中没有该指标",
    "would pay for a promise that was kept": "达标时也会赔付",
    "is a ratio, and its objective is no availability": "是比率，但该指标不是可用性",
    "add the unit": "请补充单位",
    "write at most 6 decimals of a second": "秒的小数至多 6 位",
    "write a number and a unit without a space, such as 300ms, 1.5s, 5m, 72h, 30d": "请写数字与单位且中间无空格，如 300ms、1.5s、5m、72h、30d",
    "write digits only": "请只写数字",
    "write a value above 0": "请写大于 0 的值",
    "write a text": "请写文字",
    "take the blank away": "请去掉空格",
    "shorten it": "请缩短",
    "check month and day": "请检查月与日",
    "take the tag away": "请去掉标签",
    "keep one": "保留一个",
    "keep one of them": "保留其中一个",
    "exchange or widen the edges": "请交换或放宽边界",
    "give each objective a name of its own": "每个指标须有各自的名称",
    "give each level a name of its own": "每个等级须有各自的名称",
    "list each mode in one level": "每种模式只列在一个等级中",
    "write an objective of its own for each": "请分别写成独立的指标",
    "write a single value": "请写单个值",
    "write the value, or take the key away": "请写出值，或删去该键",
    'within braces a comma ends the value: quote it, "sat,sun"': '花括号内逗号会结束值，请加引号："sat,sun"',
    "see docs/contract-reference.md": "参见 docs/contract-reference.md",
    "quote the text, or write a word": "请给文本加引号，或写一个词",
    "add the objective": "请补充该指标",
}
_PATTERNS = (
    (r"is longer than (\d+) characters", r"超过 \1 个字符"),
    (r"lies outside (scope\.\w+)", r"不在 \1 之内"),
    (r"did you mean (\w+) in place of (.+)\?", r"是否应为 \1 而非 \2？"),
    (r"did you mean (.+)\?", r"是否应为 \1？"),
    (r"the keys here are (.+) and (.+)", r"此处可用的键：\1、\2"),
    (r"the objectives are (.+)", r"现有指标：\1"),
    (r"add the unit: (.+)", r"请补充单位：\1"),
    (r"add, for example, (.+)", r"请补充，例如 \1"),
    (r"add (.+), or (.+)", r"请补充 \1，或另作约定"),
    (r"add (.+)", r"请补充 \1"),
    (r"write (.+)", r"可写作 \1"),
    (r"use (.+)", r"请使用 \1"),
    (r"begin with a letter.*", "请以字母开头，其后可用字母、数字、连字符与下划线"),
)


def in_both(english: str) -> Wording:
    """Return what validation says, in both languages."""
    return Wording(en=english, zh=chinese(english))


def chinese(english: str) -> str:
    """Return the Chinese of a phrase of validation; the phrase itself where there is none."""
    if english in _PHRASES:
        return _PHRASES[english]
    for pattern, replacement in _PATTERNS:
        match = re.fullmatch(pattern, english, re.DOTALL)
        if match is not None:
            return match.expand(replacement)
    return english
