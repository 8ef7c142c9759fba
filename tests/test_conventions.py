"""The search for conventions: numbers made by hand under a convention are found with it, others are not."""

from __future__ import annotations

import pytest

from symscale.exercise.answers import files, rows
from symscale.exercise.conventions import CONVENTIONS
from symscale.exercise.explain import fits, right_if, settings
from symscale.exercise.search import search
from symscale.exercise.setting import Setting
from symscale.exercise.slips import SLIPS
from symscale.notation.formula import parse_formula
from symscale.vocabulary import symbol

DIFFERING = [row for file in files() for row in rows(file.stem) if row.why]
V5P = {"C": "459*10^12", "W_ici": "18*10^10", "W_hbm": "28*10^11"}
# what is computed, with which values, what somebody else would come to (by hand, beside it), and what it is called
FOUND = [
    ("T_comms", "2*b*D*F/W_ici", {**V5P, "b": "2", "D": "8192", "F": "32768"}, "1.193e-2", "one direction"),
    ("T_comms", "M/W_link", {"M": "10^9", "W_link": "45*10^9"}, "1.111e-2", "both directions of each link"),
    ("alpha", "b*C/(2*W_ici)", {**V5P, "b": "2"}, "1275", "the arrays in int8"),
    ("bytes", "b*b_0", {"b": "1", "b_0": "2^34"}, "16e9", "GiB read as GB"),
    ("bytes", "M", {"M": "16*10^9"}, "17.18e9", "GB read as GiB"),
    ("FLOPs", "2*B*D*F", {"B": "1024", "D": "4096", "F": "16384"}, "6.872e10", "a multiply-add as one FLOP"),
    ("B", "b*C/(2*W_ici)", {**V5P, "b": "2"}, "5100", "a multiply-add as one FLOP"),
    ("T_comms", "M*(X - 1)/(X*W_ici)", {"M": "10^9", "W_ici": "10^11", "X": "4"}, "1.00e-2", "every shard counted"),
    ("T_comms", "M/W_ici + 6*T_hop", {"M": "10^6", "W_ici": "10^11", "T_hop": "10^-6"}, "1.00e-5", "no latency"),
    ("T_total", "max(M/W_hbm, F/C)", {**V5P, "M": "28*10^9", "F": "459*10^9"}, "1.100e-2", "a sum in place"),
    ("T_total", "M/W_hbm + F/C", {**V5P, "M": "28*10^9", "F": "459*10^9"}, "1.000e-2", "a maximum in place"),
    ("M_cache", "2*S*K*H", {"S": "8192", "K": "8", "N_heads": "64", "H": "128"}, "134.2e6", "N_heads heads for K"),
    ("FLOPs_scores", "4*T*S*D", {"T": "8192", "S": "8192", "D": "8192"}, "1.0995e12", "half the keys"),
    ("P", "3*D*F", {"D": "8192", "F": "28672"}, "469.8e6", "without its gate"),
    ("P", "2*D*F", {"D": "8192", "F": "28672"}, "704.6e6", "with a gate"),
    ("M_cache", "2*S*K*H*L", {"S": "8192", "K": "8", "H": "128", "L": "80"}, "16.78e6", "one layer"),
    ("FLOPs", "6*P*B", {"P": "70*10^9", "B": "10^6"}, "1.40e17", "the forward pass alone"),
    ("alpha", "C/W_ici", V5P, "1275", "half the peak"),
    ("alpha", "C/W_hbm", {"C": "197*10^12", "W_hbm": "819*10^9"}, "246", "W_hbm rounded to 8"),
    ("P", "12*D^2*L + 2*V*D", {"D": "8192", "L": "80", "V": "32000"}, "64.42e9", "2*D*V left out"),
    ("alpha", "C/W_hbm", {"C": "197*10^12", "W_hbm": "819*10^9"}, "295", "the figures of h100"),
    ("bubble", "(p - 1)/m", {"p": "4", "m": "8"}, "0.2727", "the ratio to the whole"),
    ("bubble", "(p - 1)/(m + p - 1)", {"p": "4", "m": "8"}, "0.375", "the ratio to the rest"),
    ("T_comms", "2*b*B*D/(X*Y*W_ici)", {"b": "2", "B": "1024", "D": "4096", "X": "4", "Y": "4", "W_ici": "9*10^10"},
     "186.4e-6", "not split over X and Y"),
    ("B", "D*F*C/(2*D*F*W_hbm - C*(D + F))", {"D": "4096", "F": "16384", "C": "394*10^12", "W_hbm": "82*10^10"},
     "267", "products of sizes rounded to 2 digits"),
    ("B", "C*D/(2*D*W_hbm - 4*C)", {"D": "4096", "C": "197*10^12", "W_hbm": "82*10^10"}, "142.4", "peak and bandwidth"),
    ("P", "L*D*(3*F + 2*H*(N_heads + K)) + D*V", {"L": "64", "D": "4096", "F": "16384", "N_heads": "32", "K": "8",
     "H": "256", "V": "32128"}, "26675773440", "D*V times L as well"),
    ("bytes", "b*(B*D + D*F)", {"b": "2", "B": "128", "D": "4096", "F": "4096"}, "35.65e6", "B*D counted twice"),
    ("X", "sqrt(B*N_chips*M_X/(F*M_Y))", {"B": "3*10^6", "F": "13824", "N_chips": "4096", "M_X": "2", "M_Y": "1"},
     "6.144", "B and F exchanged"),
    ("T_math", "2*B*D*F/C", {"B": "128", "D": "4096", "F": "4096", "C": "394*10^12", "W_hbm": "810*10^9"}, "5.302e-3",
     "W_hbm for C"),
    ("T_comms", "V/W_ici", {"V": "256", "W_ici": "9*10^10"}, "2.84e-8", "10 times too large"),
    ("T", "C*b*(G + 1)/(2*G*W_hbm)", {"C": "197*10^12", "W_hbm": "82*10^10", "b": "2", "G": "1"}, "270.3",
     "8 query heads"),
    ("T", "C*b*(G + 1)/(2*G*W_hbm)", {"C": "197*10^12", "W_hbm": "82*10^10", "b": "2", "G": "1"}, "240.2",
     "many query"),
    ("W_level", "n*W_child", {"n": "4", "W_child": "128*10^11"}, "25.6e12", "half the ports"),
    ("P", "12*D*F*L", {"D": "8192", "L": "80"}, "257.7e9", "F = 4*D"),
    ("bytes", "b*M", {"b": "1", "M": "2^19"}, "536871", "kB written as KiB"),
    ("T", "8*D", {"D": "4608"}, "32768", "D taken as 4096"),
    ("T_comms", "V/(2*W_link) + 6*T_hop", {"V": "2^24", "W_link": "45*10^9", "T_hop": "10^-6"}, "1.118e-3",
     "for each hop"),
    ("alpha", "C/W_hbm", {"C": "989*10^12", "W_hbm": "335*10^10"}, "590.7", "structured sparsity"),
    ("T_total", "max(M/W_hbm, F/C)", {**V5P, "M": "28*10^9", "F": "459*10^9"}, "1.000e-3",
     "alone, and not the larger"),
    ("T_comms", "3*b*B/(4*W_ici)", {"b": "2", "B": "2048", "W_ici": "9*10^10"}, "4.551e-8", "every shard counted, 4"),
    ("rate", "W_hbm/M", {"W_hbm": "10^12", "M": "25*10^9"}, "0.025", "one over it"),
    ("B", "b*C/(2*W_ici)", {**V5P, "b": "2"}, "2550", "as it is"),
    ("B", "b*C/(2*W_ici)", {**V5P, "b": "2", "C": "45988*10^10"}, "2554", "cut off"),
]  # fmt: skip


def made(name: str, formula: str, values: dict[str, str]) -> Setting:
    put = {symbol(each): parse_formula(value).expr for each, value in values.items()}
    return Setting(parse_formula(formula).expr, put, symbol(name))


@pytest.mark.parametrize(("name", "formula", "values", "printed", "words"), FOUND)
def test_a_number_made_under_a_convention_is_found_with_it(
    name: str, formula: str, values: dict[str, str], printed: str, words: str
) -> None:
    found = [str(each) or "as it is" for each in search(made(name, formula, values), fits(printed))]
    assert any(words in each for each in found), found


def test_every_kind_is_tried_here() -> None:
    kinds = {kind.__name__ for kind in (*CONVENTIONS, *SLIPS)}
    seen = {kind.__name__ for kind in (*CONVENTIONS, *SLIPS) for case in FOUND if list(kind(made(*case[:3])))}
    assert kinds - seen == {"intermediate"}, "which needs a derivation: see below"


def test_a_quantity_rounded_on_the_way_is_found() -> None:
    (row,) = [each for each in DIFFERING if each.id == "ch8.q.bs32.tput"]
    assert "T_step taken as 0.017" in right_if(row)


def test_a_number_from_nowhere_has_no_convention() -> None:
    start = made("T_comms", "2*b*D*F/W_ici", {**V5P, "b": "2", "D": "8192", "F": "32768"})
    assert list(search(start, fits("7.7777e-3"), 2)) == []


def test_what_is_claimed_gives_the_number_when_computed_again() -> None:
    for row in DIFFERING[:40]:
        if row.printed not in ("yes", "no", ""):
            for start in settings(row):
                for found in search(start, fits(row.printed, row.within)):
                    value = found.setting.expr.subs(dict(found.setting.values))
                    assert fits(row.printed, row.within)(value) == found.how


def test_two_conventions_at_once() -> None:
    start = made("T_comms", "b*D*F/W_ici", {**V5P, "b": "2", "D": "8192", "F": "32768"})
    both = [str(each) for each in search(start, fits("1.4913e-3"), 2)]
    assert both == ["2 physical axes (2*W_ici)", "the arrays in int8"], "one is enough, so no two are put together"
    both = [str(each) for each in search(start, fits("1.1930e-2"), 2)]
    assert "one direction of each link (W_ici/2); the arrays in fp32" in both
