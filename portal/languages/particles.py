"""Korean particles after a name that came in: "#12을(를)" is "#12를". Where the sound of the end is not certain (Latin letters), both stay."""

from __future__ import annotations

import re

_BOTH = re.compile(r"([가-힣0-9])(은\(는\)|이\(가\)|을\(를\)|과\(와\)|\(으\)로|\(이\)라)")
_CLOSED = {"은(는)": "은", "이(가)": "이", "을(를)": "을", "과(와)": "과", "(으)로": "으로", "(이)라": "이라"}      # after a consonant
_OPEN = {"은(는)": "는", "이(가)": "가", "을(를)": "를", "과(와)": "와", "(으)로": "로", "(이)라": "라"}
_L = 8                      # the final consonant ㄹ, after which it is 로
_DIGITS = {"0": 21, "1": _L, "3": 16, "6": 1, "7": _L, "8": _L}             # 영 일 삼 육 칠 팔 end in a consonant


def settled(text: str) -> str:
    """With one particle where two stood."""
    return _BOTH.sub(lambda found: found[1] + _one(found[1], found[2]), text)


def _one(before: str, both: str) -> str:
    final = _DIGITS.get(before, 0) if before.isdigit() else (ord(before) - ord("가")) % 28
    is_open = final == 0 or (final == _L and both == "(으)로")
    return (_OPEN if is_open else _CLOSED)[both]
