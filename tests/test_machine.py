"""Chips: the numbers, their sources, and a user's own file with all that can be wrong in it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Integer, Rational, Symbol

from symscale.errors import MachineError
from symscale.machine import (
    Fact,
    Machine,
    generic_network,
    load_machine,
    machine,
    machines,
    parse_slice,
    wraps,
)

DOCS = Path(__file__).parent.parent / "docs" / "machines.md"

# name, bf16 (or fp16), int8 or fp8, HBM B/s, HBM bytes, main network one way, DCN/IB/PCIe one way.
# How To Scale Your Model, ch. 2 and 12 (2026 text); NVIDIA data sheets where the book rounds.
CHIPS = [
    ("tpu-v3", "bf16", 1.4e14, "int8", 1.4e14, 9e11, 32e9, 1e11, "dcn", 6.25e9),
    ("tpu-v4p", "bf16", 2.75e14, "int8", 2.75e14, 1.2e12, 32e9, 4.5e10, "dcn", 6.25e9),
    ("tpu-v5p", "bf16", 4.59e14, "int8", 9.18e14, 2.8e12, 96e9, 9e10, "dcn", 6.25e9),
    ("tpu-v5e", "bf16", 1.97e14, "int8", 3.94e14, 8.2e11, 16e9, 4.5e10, "dcn", 3.125e9),
    ("tpu-v6e", "bf16", 9.2e14, "int8", 1.84e15, 1.6e12, 32e9, 9e10, "dcn", 12.5e9),
    ("tpu7x", "bf16", 2.3e15, "int8", 4.61e15, 7.4e12, 192e9, 9e10, "dcn", 12.5e9),
    ("v100", "fp16", 1.25e14, "fp16", 1.25e14, 9e11, 32e9, 1.5e11, "nvlink", 1.5e11),
    ("a100", "bf16", 3.12e14, "int8", 6.24e14, 2e12, 80e9, 3e11, "ib", 25e9),
    ("h100", "bf16", 9.89e14, "fp8", 1.979e15, 3.35e12, 80e9, 4.5e11, "ib", 50e9),
    ("h200", "bf16", 9.89e14, "fp8", 1.979e15, 4.8e12, 141e9, 4.5e11, "ib", 50e9),
    ("h800", "bf16", 9.89e14, "fp8", 1.513e15, 3.35e12, 80e9, 3e11, "ib", 50e9),
    ("b200", "bf16", 2.25e15, "fp4", 9e15, 8e12, 192e9, 9e11, "ib", 50e9),
    ("gb200", "bf16", 2.25e15, "fp8", 4.5e15, 8e12, 192e9, 9e11, "ib", 50e9),
    ("rtx-4080", "bf16", 9.75e13, "bf16", 9.75e13, 7.2e11, 16e9, 1e10, "pcie", 1e10),
]


@pytest.mark.parametrize("row", CHIPS, ids=lambda row: row[0])
def test_numbers_of_the_chips(row: tuple[object, ...]) -> None:
    name, dtype, peak, other, other_peak, hbm, capacity, link, outer, outer_speed = row
    chip = machine(str(name))
    assert chip.main_network is not None
    found = (
        chip.peak(str(dtype)),
        chip.peak(str(other)),
        chip.hbm_bandwidth,
        chip.hbm_capacity,
        chip.main_network.one_way,
        chip.network(str(outer)).one_way,
    )
    assert tuple(map(int, found)) == (peak, other_peak, hbm, capacity, link, outer_speed)


def test_every_chip_is_in_the_table_above() -> None:
    assert sorted(row[0] for row in CHIPS) == list(machines())


def all_facts(chip: Machine) -> list[tuple[str, Fact]]:
    return [*chip.facts, *((key, other) for key, fact in chip.facts for other in fact.other)]


@pytest.mark.parametrize("name", machines())
def test_every_value_is_exact_positive_and_sourced(name: str) -> None:
    chip = machine(name)
    for key, fact in all_facts(chip):
        assert isinstance(fact.value, Rational), key
        assert fact.value > 0
        assert len(fact.source) > 8, (key, fact.source)
        assert fact.unit
        assert (fact.direction in ("one_way", "both")) == key.endswith("bandwidth") == bool(
            fact.direction
        ) or key.startswith(("hbm", "core"))
    for value in chip.constants().values():
        assert isinstance(value, Rational)


@pytest.mark.parametrize("name", machines())
def test_both_directions_are_twice_one_and_sparse_is_twice_dense(name: str) -> None:
    chip = machine(name)
    for key, fact in chip.facts:
        for other in fact.other:
            if {fact.direction, other.direction} == {"one_way", "both"} and fact.per == other.per:
                # The H800's two sources disagree about its NVLink; that is what `other` records.
                assert other.value == 2 * fact.value or name == "h800", key
    for dtype, value in chip.sparse_peaks:
        # 1979 is the doubled 989.5 of which data sheets print 989.
        assert float(value) == pytest.approx(2 * float(chip.peak(dtype)), rel=1e-3)
        assert chip.peak(dtype, sparse=True) == value


@pytest.mark.parametrize("name", machines())
def test_other_values_are_near_the_chosen_one(name: str) -> None:
    for key, fact in machine(name).facts:
        for other in fact.other:
            scale = 1 if other.per == fact.per and other.direction == fact.direction else 12
            ratio = float(other.value / fact.value)
            assert ratio * scale >= 0.5 or key == "network.pcie.bandwidth"
            assert ratio <= 1.4 * scale, (key, ratio)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("v5e", "tpu-v5e"),
        ("tpu-v5litepod", "tpu-v5e"),
        ("Trillium", "tpu-v6e"),
        ("IRONWOOD", "tpu7x"),
        ("tpu_v5p", "tpu-v5p"),
        ("TPU v5p", "tpu-v5p"),
        ("gb200-nvl72", "gb200"),
        ("H100", "h100"),
        (" rtx4080 ", "rtx-4080"),
    ],
)
def test_aliases(alias: str, name: str) -> None:
    assert machine(alias) == machine(name)
    assert machine(alias).name == name


def test_names_and_aliases_are_unique() -> None:
    names = [word for name in machines() for word in (name, *machine(name).aliases)]
    assert len(names) == len(set(names))
    assert all(machine(name).name == name for name in machines())


@pytest.mark.parametrize(
    ("chip", "dtype", "bandwidth", "value"),
    [
        ("tpu-v5e", "bf16", "W_hbm", 240.24),
        ("h100", "bf16", "W_hbm", 295.2),
        ("b200", "bf16", "W_hbm", 281.25),
        ("tpu-v5p", "bf16", "W_ici", 2550),
        ("tpu-v5p", "bf16", "W_dcn", 73440),
        ("rtx-4080", "bf16", "W_hbm", 135.4),
        ("tpu-v5e", "bf16", "W_link", 4377.8),
    ],
)
def test_critical_intensities(chip: str, dtype: str, bandwidth: str, value: float) -> None:
    constants = machine(chip).constants(dtype)
    assert float(constants["C"] / constants[bandwidth]) == pytest.approx(value, rel=1e-3)


def test_constants_hold_what_the_chip_has() -> None:
    v5e = machine("tpu-v5e").constants("int8")
    assert v5e == {
        "C": 394 * 10**12, "W_hbm": 82 * 10**10, "M_hbm": 16 * 10**9, "W_ici": 9 * 10**10,
        "W_link": 45 * 10**9, "W_dcn": 3125 * 10**6, "W_pcie": 16 * 10**9, "T_hop": Rational(1, 10**6),
    }  # fmt: skip
    assert set(machine("h100").constants()) == {"W_hbm", "M_hbm", "W_nvlink", "W_ib"}
    assert machine("v5e").price == Rational(12, 10) / 3600


def test_capacity_words_differ() -> None:
    (gib,) = dict(machine("tpu-v5p").facts)["hbm.capacity"].other
    assert gib.value == 95 * 2**30
    assert dict(machine("tpu-v5p").facts)["hbm.capacity"].value == 96 * 10**9


@pytest.mark.parametrize(
    ("word", "close"),
    [("tpu-v5", "tpu-v5p"), ("h10", "h100"), ("tpu-v5q", "tpu-v5p"), ("trilium", "trillium")],
)
def test_an_unknown_chip_lists_close_names(word: str, close: str) -> None:
    with pytest.raises(MachineError) as error:
        machine(word)
    assert re.search(rf"Did you mean [^?]*{close}", str(error.value))


@pytest.mark.parametrize("word", ["", "x" * 10**6, "../tpu-v5e", "tpu-v5e.toml", "\0", "__import__('os')"])
def test_odd_names_are_refused_at_once(word: str) -> None:
    with pytest.raises(MachineError) as error:
        machine(word)
    assert len(str(error.value)) < 600


def test_unknown_dtype_network_and_generic_network() -> None:
    with pytest.raises(MachineError, match=r"A100 .* has no peak for 'fp8'.\nIt has: bf16, int8"):
        machine("a100").peak("fp8")
    with pytest.raises(MachineError, match="no structured-sparse peak"):
        machine("v5e").peak("bf16", sparse=True)
    with pytest.raises(MachineError, match="It has: ici, dcn, pcie"):
        machine("v5e").network("nvlink")
    with pytest.raises(MachineError, match="Known networks: ici"):
        generic_network("icy")


# ------------------------------------------------------------------ wraparound and slices


@pytest.mark.parametrize(
    ("chip", "size", "links", "closed"),
    [
        ("v5e", 16, 1, True), ("v5e", 8, 1, False), ("v5e", 4, 1, False), ("v6e", 16, 1, True),
        ("v5e", 256, 2, True), ("v5e", 64, 2, False), ("v5e", 32, 1, False),
        ("v5p", 4, 1, True), ("v5p", 8, 1, True), ("v5p", 6, 1, False), ("v5p", 2, 1, False),
        ("v5p", 1, 1, False),
        ("v5p", 64, 3, True), ("v5p", 16, 2, True), ("v5p", 16, 3, False), ("ironwood", 4, 1, True),
        ("h100", 2, 1, True),
    ],
)  # fmt: skip
def test_wraparound(chip: str, size: int, links: int, closed: bool) -> None:
    network = machine(chip).main_network
    assert network is not None
    assert wraps(network, size, links) is closed
    assert wraps(network, Integer(size), links) is closed


def test_symbolic_sizes_wrap() -> None:
    assert wraps(generic_network("ici"), Symbol("X", positive=True))
    assert not wraps(generic_network("ici"), 2)


@pytest.mark.parametrize(
    ("text", "shape", "closed"),
    [
        ("tpu-v5e:4x4", (4, 4), (False, False)),
        ("v5e:8x16", (8, 16), (False, True)),
        ("v5p:4x4x8", (4, 4, 8), (True, True, True)),
        ("v5p:2x4x4", (2, 4, 4), (False, False, False)),  # not whole cubes
        ("v5p:4x4", (4, 4), (False, False)),
        ("ironwood:8×8x8", (8, 8, 8), (True, True, True)),
        ("h100:8", (8,), (True,)),
        ("v5p", (1,), (False,)),
    ],
)
def test_slices(text: str, shape: tuple[int, ...], closed: tuple[bool, ...]) -> None:
    found = parse_slice(text)
    assert (found.shape, found.wraps) == (shape, closed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v5e:4x32", "an axis of 32, and the pod's is 16"),
        ("v5e:4x4x4", "3 axes, and the chip has 2"),
        ("v5p:64x64x64", "262144 chips, more than a pod"),
        ("v5e:0x4", "'0' is not one"),
        ("v5e:4x", "'' is not one"),
        ("v5e:-4", "'-4' is not one"),
        ("v5e:" + "9" * 100, "is not one"),
        ("v9:4", "No chip is called 'v9'"),
    ],
)
def test_impossible_slices(text: str, message: str) -> None:
    with pytest.raises(MachineError, match=re.escape(message)):
        parse_slice(text)


def test_a_slice_error_points_at_the_size() -> None:
    with pytest.raises(MachineError) as error:
        parse_slice("v5e:4xq")
    assert (error.value.text, error.value.position) == ("v5e:4xq", 6)


# ------------------------------------------------------------------ a user's own file

GOOD = """
source = "me"
[peak]
bf16 = { value = 1.5e14, unit = "FLOP/s" }
[hbm]
bandwidth = { value = 1, unit = "TB/s" }
capacity = { value = 16, unit = "GiB" }
[network.ici]
kind = "torus"
pod = [8, 8]
wrap = { rule = "full", of = 8 }
bandwidth = { value = 1e11, unit = "B/s", direction = "both" }
hop_time = { value = 1, unit = "us" }
[network.dcn]
kind = "switch"
bandwidth = { value = 50, unit = "Gbit/s", direction = "one_way" }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file(tmp_path: Path) -> None:
    chip = load_machine(written(tmp_path, GOOD))
    assert chip.name == chip.title == "my"
    assert chip.constants("bf16") == {
        "C": 15 * 10**13, "W_hbm": 10**12, "M_hbm": 2**34, "W_ici": 10**11, "W_link": 5 * 10**10,
        "W_dcn": 625 * 10**7, "T_hop": Rational(1, 10**6),
    }  # fmt: skip
    assert dict(chip.sources)["peak.bf16"] == "me"


def test_the_example_of_the_documentation_loads(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
    chip = load_machine(written(tmp_path, example))
    assert chip.peak("bf16") == 5 * 10**14
    assert chip.peak("int8", sparse=True) == 2 * 10**15
    assert chip.constants()["W_ici"] == 10**11
    assert chip.hbm_capacity == 64 * 2**30
    assert dict(chip.facts)["peak.int8"].other[0].source == "our own measurement"


def test_B26_a_vendors_both_ways_per_chip(tmp_path: Path) -> None:
    text = GOOD.replace(
        'value = 1e11, unit = "B/s", direction = "both"',
        'value = 8e11, unit = "B/s", direction = "both", per = "chip"',
    )
    text = text.replace("1.5e14", "9.18e14")
    found = load_machine(written(tmp_path, text)).constants("bf16")
    assert found["W_ici"] == 2 * 10**11
    assert found["C"] / found["W_ici"] == 4590
    assert found["C"] / (2 * found["W_ici"]) == 2295
    assert found["C"] / machine("v6e").constants()["W_ici"] == 5100


MISTAKES = [
    ("bf16 = {", "bf16 = 5\nint8 = {", "peak.bf16: 5 is not a table"),
    ("bf16", "bf15", r"peak: unknown key 'bf15'.\n.*Did you mean bf16"),
    ("[hbm]", "[hmb]", r"unknown key 'hmb'.\n.*Did you mean hbm"),
    ("width = { value = 1,", "with = { value = 1,", r"hbm: unknown key 'bandwith'.\n.*mean bandwidth"),
    ("network.dcn", "network.dnc", r"network: unknown key 'dnc'.\n.*Did you mean dcn"),
    ("value = 1.5e14", "value = -1.5e14", "peak.bf16.value: -150000000000000 is not positive"),
    ("value = 1.5e14", "value = 0", "0 is not positive"),
    ("value = 1.5e14", "value = nan", "not a finite number"),
    ("value = 1.5e14", "value = inf", "not a finite number"),
    ("value = 1.5e14", "value = 1e999999999", "not a finite number of a plausible size"),
    ("value = 1.5e14", "value = 1e-500", "not a finite number of a plausible size"),
    ("value = 1.5e14", "value = '1.5e14'", "'1.5e14' is not a number"),
    ("value = 1.5e14", "value = true", "True is not a number"),
    ("value = 1.5e14, ", "", r"peak.bf16: value is missing.\nNeeded: value = "),
    (', unit = "FLOP/s"', "", r"peak.bf16: unit is missing.\nNeeded: unit = "),
    ('"FLOP/s"', '"B"', r"peak.bf16.unit: 'B' is not the right kind of unit.\nNeeded: a unit such as FLOP/s"),
    ('"TB/s"', '"GiB"', "'GiB' is not the right kind of unit"),
    ('"TB/s"', '"furlong"', "unknown unit 'furlong'"),
    (', direction = "both"', "", r"network.ici.bandwidth: direction is missing.\nNeeded: .*one_way"),
    ('"both"', '"oneway"', r"direction is 'oneway'.\nNeeded: one_way or both.*Did you mean one_way"),
    ('kind = "torus"', 'kind = "tours"', r"kind is 'tours'.\nNeeded: torus or switch.*Did you mean torus"),
    ('kind = "torus"\n', "", "network.ici: kind is missing"),
    ("[8, 8]", "[8, 0]", "network.ici.pod: 0 is not a count"),
    ("[8, 8]", "8", "network.ici.pod: 8 is not a list"),
    ('rule = "full"', 'rule = "ful"', r"rule is 'ful'.\n.*Did you mean full"),
    (', of = 8', "", "network.ici.wrap: of is missing"),
    ('source = "me"\n', "", "peak.bf16: no source"),
    ('source = "me"\n', "source = 3\n", "source: 3 is not a text"),
    ("[peak]\nbf16", "[peak_sparse]\nbf16", r"there is no \[peak\] table"),
    ("[hbm]", "hbm", r"not TOML: .*\(at line 5"),
    ("value = 1.5e14", "value = " + "9" * 5000, "not TOML: Exceeds the limit"),
    ("value = 1.5e14", "value = " + "9" * 90, "absurdly large"),
    ("value = 1.5e14", "value = 1." + "9" * 5000, "not a finite number of a plausible size"),
    ("value = 1.5e14", "value = 1979-05-27", "is not a number"),
    ("[8, 8]", "[" * 5000, "not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_mistakes_in_a_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(MachineError) as error:
        load_machine(path)
    assert re.search(message, str(error.value), re.S), str(error.value)
    assert str(error.value).startswith(str(path))
    assert error.value.hint


def test_a_caret_points_into_the_file(tmp_path: Path) -> None:
    with pytest.raises(MachineError) as error:
        load_machine(written(tmp_path, "[peak]\nbf16 = { value = }\n"))
    assert "    bf16 = { value = }\n                     ^" in str(error.value)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="No such file"):
        load_machine(tmp_path / "none.toml")
    with pytest.raises(MachineError, match="cannot be read"):
        load_machine(tmp_path)
    with pytest.raises(MachineError, match="cannot be read"):
        load_machine("a\0b")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MachineError, match="not UTF-8"):
        load_machine(tmp_path / "bytes.toml")
    (tmp_path / "long.toml").write_text("#" * 1_000_001)
    with pytest.raises(MachineError, match="longer than 1 MB"):
        load_machine(tmp_path / "long.toml")


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([*GOOD.split("\n"), "x = 1", "[[peak]]", "peak = []", 'a = "']), max_size=12))
def test_shuffled_files_give_a_machine_or_one_kind_of_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), "\n".join(lines))
    with contextlib.suppress(MachineError):
        assert load_machine(path).peaks
