"""Bad input: one paragraph that says what was wrong, where, and a way out; exit code 2; nothing half-written."""

from __future__ import annotations

import time

import pytest

from symscale.cli import main

FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
ONE = "x[B, D] * W[D, F] -> y[B, F]"
HEADS = "Q[B, K_X, H] * M[H, D] -> O[B, K_X, D]"
MILLION = 1_000_000


def derive(program: str, *options: str) -> list[str]:
    return ["derive", program, *options]


# arguments, words of the message, whether a caret stands under the offending character
NOTATION = [
    (derive("In[B_X, D * W[D, F] -> Out[B, F]"), "'[' is never closed|Close it", True),
    (derive("In[B_X, D]] * W[D, F] -> Out[B, F]"), "']' closes nothing|Remove it", True),
    (derive("In[B_X, D] ** W[D, F] -> Out[B, F]"), "Found '*'|a name|A statement reads", True),
    (derive("In[B_X, D] * W[D, F] => Out[B, F]"), "Found '='|'->'", True),
    (derive("In[B_X, D] W[D, F] -> Out[B, F]"), "Found 'W'|'*'", True),
    (derive("In[B_X; D]"), "Found ';'|','|']'", True),
    (derive("In[B, D] @ W[D, F] -> O[B, F]"), "'@' has no meaning|name[dim", True),
    (derive("In[B, D] * W[D, F] ->"), "ends where|a name", True),
    (derive("In[B,, D] * W[D, F] -> O[B, F]"), "Found ','|a name", True),
    (derive("In[2, D] * W[D, F] -> O[2, F]"), "'2'|name[dim", True),
    (derive("-> O[B, F]"), "No such option|symscale derive --help", False),
    (derive(""), "The program is empty|Write one", False),
    (derive("  \n "), "The program is empty|Write one", False),
    (derive("\x00\x01\x7f"), "has no meaning here|Write arrays", True),
    (derive("\x1b[31mred"), "never closed|Close it", True),
    (derive("💥[B, D] * W[D, F] -> y[B, F]"), "'💥' has no meaning|Write arrays", True),
    (derive("(" * 10_000), "More than 60 nested brackets|Name a part", True),
    (derive("f(" * 200 + "x[B]" + ")" * 200 + " -> y[B]"), "More than 60 nested brackets|Name a part", True),
    (derive("a" * MILLION), "1,000,000 characters|at most 500,000|Split it", False),
    (derive("[" * MILLION), "1,000,000 characters|Split it", False),
    (derive("__import__('os')"), "'_' has no meaning|Write arrays", True),
    (derive(r"\frac{In[B_X, D]}{2}"), "has no meaning|Write arrays", True),
    (derive(r"\text{In}[B_X, D_Y \cdot_D W[D, F]"), "never closed", True),
]
PROGRAMS = [
    (derive("A[I_X, J_X] * B[J, K] -> C[I, K]"), "X twice|on I and on J|one mesh axis shards one dimension|J", True),
    (derive("A[I_XX, J] * B[J, K] -> C[I, K]"), "X twice", True),
    (derive("A[I, J] * B[K, L] -> C[I, L]"), "dimension J|missing in C|sum_J", True),
    (derive("A[I, J] * B[J, K] -> C[I, Z]"), "dimension Z|[I, K]|Remove it", True),
    (derive("A[I, J] * A[I, J, K] -> C[I, K]"), "A has the dimensions [I, J]|rename", True),
    (derive("A[I, J] * B[J, I]"), "no result|-> Out", True),
    (derive("A[I, J]"), "computes nothing|Write a product", True),
    (derive(ONE, "--mesh", "Q=4"), "an axis Q|does not use it|the mesh", False),
    (derive(FSDP, "--axes", "Q=2"), "axis Q|does not use it|X", False),
    (derive(FSDP, "--axes", "X=nvlink", "--on", "tpu-v5p"), "no network 'nvlink'|ici, dcn", False),
]
SIZES = [
    (derive(ONE, "--set", "D=0"), "D = 0 is not positive|above zero", False),
    (derive(ONE, "--set", "D=-1"), "D = -1 is not positive", False),
    (derive(ONE, "--set", "D=nan"), "nan is no number|positive number", False),
    (derive(ONE, "--set", "D=inf"), "inf is no number", False),
    (derive(ONE, "--set", "D=1e400"), "D is beyond|D=8192", False),
    (derive(ONE, "--set", "D=1e99999999"), "4200 digits|exponent", True),
    (derive(ONE, "--set", "D=1.5"), "D = 3/2 is not whole", False),
    (derive(ONE, "--set", "D=1/0"), "divides by zero|--help", True),
    (derive(ONE, "--set", "D=9**9**9**9"), "an exponent is at most 1000", True),
    (derive(ONE, "--set", "D=__import__('os')"), "a name starts with a letter", True),
    (derive(ONE, "--set", "D="), "expected here|a formula looks like", True),
    (derive(ONE, "--set", "D"), "an assignment was expected|D=8192", True),
    (derive(ONE, "--set", ""), "An assignment is empty|D=8192", False),
    (derive(ONE, "--set", "D=1", "--set", "D=2"), "D is given twice", False),
    (derive(ONE, "--set", "D=1,D=2"), "`D` is assigned twice", True),
    (derive(ONE, "--set", "Q=4"), "Q does not occur in the program|B, D, F", False),
    (derive(ONE, "--set", "W_pci=4"), "W_pci does not occur", False),
    (derive(ONE, "--set", "W_hbm=D"), "W_hbm is no dimension|W_hbm=", False),
    (derive(ONE, "--set", "D=F", "--set", "F=D"), "terms of itself|D = F, F = D|Leave one", False),
    (derive(ONE, "--set", "D=2*D"), "terms of itself|D = 2*D", False),
    (derive(FSDP, "--mesh", "X=0"), "X cannot have 0 chips|from 1", False),
    (derive(FSDP, "--mesh", "X=-3"), "X cannot have -3 chips", False),
    (derive(FSDP, "--mesh", "X=1.5"), "X cannot have 3/2 chips|whole number", False),
    (derive(FSDP, "--mesh", "X=nan"), "nan is no number", False),
    (derive(FSDP, "--mesh", "X=1e400"), "X cannot have that many chips", False),
    (derive(FSDP, "--mesh", "X=2,X=4"), "`X` is assigned twice", True),
    (derive(FSDP, "--mesh", "X"), "an assignment was expected", True),
    (derive(FSDP, "--mesh", "X=4", "--set", "X=4"), "X has a size already|--mesh or by --set", False),
    (derive(HEADS, "--set", "K=8", "--mesh", "X=16"), "K_X of Q|8 elements over 16 chips|replication|at most 8", False),
    (derive(HEADS, "--set", "K=8,X=16"), "8 elements over 16 chips|replication", False),
    (derive(FSDP, "--axes", "X=0"), "axis X cannot lie on '0'|physical axes", True),
    (derive(FSDP, "--axes", "X=wifi"), "'wifi'|ici, dcn|M_X", True),
    (derive(FSDP, "--axes", "X"), "'X' places no axis|X=3 or P=dcn", True),
    (derive(ONE, "--layers", "0"), "There cannot be 0 layers|from 1", False),
    (derive(ONE, "--layers", "1.5"), "There cannot be 1.5 layers", False),
    (derive(ONE, "--layers", "B"), "B is a size of the program|Rename", False),
]
OPTIONS = [
    (derive(ONE, "--on", "tpu-v5pp"), "'tpu-v5pp'|Did you mean tpu-v5p|--machine", False),
    (derive(ONE, "--on", "x" * 100_000), "No chip|Known chips", False),
    (derive(ONE, "--on", "v5p", "--machine", "a.toml"), "Both --on and --machine", False),
    (derive(ONE, "--machine", "/nowhere.toml"), "/nowhere.toml|cannot read|TOML file", False),
    (derive(ONE, "--format", "pdf"), "format 'pdf'|text, md, latex, json", False),
    (derive(ONE, "--passes", "sideways"), "passes 'sideways'|forward, backward", False),
    (derive(ONE, "--overlap", "never"), "overlap 'never'|max, axes-serial, sum", False),
    (derive(ONE, "--dtype", "bf17"), "dtype 'bf17'|bf16", False),
    (derive(ONE, "--nope"), "--nope|symscale derive --help", False),
    (derive(ONE, "extra"), "extra|symscale derive --help", False),
    (["derive"], "PROGRAM|symscale derive --help", False),
    (["nope"], "nope|symscale --help", False),
    (derive(FSDP, "--solve", "Q"), "Q does not occur|Solve for one of B, D, F", True),
    (derive(FSDP, "--solve", ""), "--solve is empty|Leave it out", False),
    (derive(FSDP, "--solve", "B+"), "expected here|a formula looks like", True),
    (derive(FSDP, "--solve", "2"), "2 is neither a symbol nor a ratio|B/X", True),
    (derive(FSDP, "--solve", "B + D"), "neither a symbol nor a ratio|B/X", True),
    (derive(FSDP, "--solve", "T_hop"), "T_hop decides nothing|--latency", False),
    (derive(MIXED, "--solve", "N_chips"), 'The number of chips fixes no mesh|--subject-to "X*Y = N"', False),
    (derive(FSDP, "--solve", "B", "--assume", "B"), "a limit needs a sign|B << D, F", True),
    (derive(FSDP, "--solve", "B", "--assume", "B << Q"), "Q, which is no open size|B, D, F, X", False),
    (derive(FSDP, "--assume", "B << D"), "nothing is asked|--solve", False),
    (derive(MIXED, "--minimize", "X"), 'needs a constraint|--subject-to "X*Y = N"', False),
    (derive(MIXED, "--minimize", "Q", "--subject-to", "X*Y=N"), "Q is no mesh axis|X, Y", False),
    (derive(FSDP, "--minimize", "X", "--subject-to", "X=N", "--passes", "update"), "No pass sends anything", False),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y"), "a relation needs a sign", True),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y>=N"), "not an equation|X*Y = N", False),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Q=N"), "fixes no mesh axis|X, Y", False),
    (derive(ONE, "--table", "B"), "no range|--table B=1k:1M:*2", False),
    (derive(ONE, "--table", "Q=1:8"), "Q does not occur", False),
    (derive(ONE, "--table", "B=1:8"), "C, D, F, W_hbm have none|--on|--set", False),
    (derive(ONE, "--table", "B=0:8", "--on", "v5e", "--set", "D=8,F=8"), "B = 0 is not positive", False),
    (derive(ONE, "--table", "B=8:1:1", "--on", "v5e", "--set", "D=8,F=8"), "never arrives", True),
    (derive(ONE, "--table", "B=1:5000", "--on", "v5e", "--set", "D=8,F=8"), "5,000 rows|widen the step", False),
    (derive(ONE, "-o", "/nowhere/at/all"), "/nowhere/at/all cannot be written|a folder you may write to", False),
    (derive(ONE, "-o", "/"), "cannot be written", False),
]
OTHERS = [
    (["solve", "9**9**9**9 >= B", "--for", "B"], "an exponent is at most 1000|--help", True),
    (["solve", "B >= __import__('os').system('ls')", "--for", "B"], "a name starts with a letter", True),
    (["solve", "x" * MILLION, "--for", "B"], "1,000,000 characters|limit", False),
    (["solve", "(" * 1000 + "B" + ")" * 1000 + " >= 1", "--for", "B"], "nested more than 50", True),
    (["solve", "B", "--for", "B"], "needs a sign|T_math >= T_comms", True),
    (["solve", "", "--for", "B"], "needs a sign", False),
    (["solve", "B >= 1", "--for", ""], "--for is empty", False),
    (["solve", "B >= 1", "--for", "Q"], "Q does not occur in the relation|B", True),
    (["solve", "B >= 1"], "--for|symscale solve --help", False),
    (["solve", "B >= C >= D", "--for", "B"], "not a chain|two relations", True),
    (["solve", "B/C >= b*B/W_hbm + D", "--for", "B"], "cannot add `D`|in s", False),
    (["solve", "T_math >= b", "--for", "b"], "`T_math` (in s)|`b` (in B)", False),
    (["solve", "x >= T1", "--for", "x", "--let", "T1=T2", "--let", "T2=T1"], "terms of itself|T1 = T2", False),
    (["solve", "x >= y", "--for", "x", "--set", "Q=1"], "Q does not occur|x, y", False),
    (["solve", "x >= y", "--for", "x", "--unit", "y"], "'y' gives no unit|W_pcie=B/s", False),
    (["solve", "x >= y", "--for", "x", "--unit", "y=parsec"], "`parsec` is not a unit|known", True),
    (["solve", "x >= C/W", "--for", "x", "--on", "v5e"], "W is any of W_hbm, W_ici|the one that is meant", False),
    (["solve", "exp(x) >= x**5 + log(x)", "--for", "x"], "inside exp|symscale solve --help", False),
    (["show", "nope"], "no derivation 'nope'", False),
    (["show", "../../etc/passwd"], "no derivation", False),
    (["machines", "v5pp"], "'v5pp'|Did you mean", False),
    (["completion", "tcsh"], "'tcsh'|bash, zsh, fish", False),
    (["report", "/proc/nope"], "/proc/nope cannot be made|may write to", False),
    (["compare", ONE, ""], "The program is empty", False),
    (["compare", ONE, "y[I"], "never closed", True),
    (["compare", ONE, FSDP, "--solve", "Q"], "Q does not occur in the times|B", True),
    (["compare", ONE, FSDP, "--mesh", "Q=2"], "Neither program uses the axis Q", False),
    (["compare", ONE, FSDP, "--set", "Q=2"], "Q does not occur in either program|B, D, F, X", False),
    (["compare", ONE, "A[I] -> B[I]"], "takes no time|a product", False),
    (["compare", ONE, FSDP, "--passes", "x"], "passes 'x'|forward", False),
]
CASES = [*NOTATION, *PROGRAMS, *SIZES, *OPTIONS, *OTHERS]


def short(value: object) -> str:
    return " ".join(str(each)[:60] for each in value) if isinstance(value, list) else ""


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Load what the first command loads, so that times are those of the input."""
    with pytest.raises(SystemExit):
        main(["derive", "("])
    with pytest.raises(SystemExit):
        main(["derive", "a[B] b"])


@pytest.mark.parametrize(("arguments", "words", "caret"), CASES, ids=short)
def test_bad_input_is_explained(arguments, words, caret, capsys):
    start = time.process_time()
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    spent = time.process_time() - start
    out, err = capsys.readouterr()
    assert stopped.value.code == 2
    assert out == ""
    for word in words.split("|"):
        assert word in err
    lines = err.rstrip("\n").split("\n")
    assert lines[0].startswith("symscale: ")
    assert 2 <= len(lines) <= 5, "what was wrong, where, and a way out"
    assert lines[-1].strip() not in ("", "^"), "a way out comes last"
    assert max(map(len, lines)) < 400
    assert any(line.strip() == "^" for line in lines) is caret
    assert "Traceback" not in err
    assert "\x1b" not in err
    assert "\x00" not in err
    assert spent < 1


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_file_that_cannot_be_written_is_left_as_it_was(target, tmp_path, capsys):
    if target == "folder":
        (tmp_path / "out").mkdir()
    else:
        (tmp_path / "out").write_text("before", encoding="utf-8")
    bad = derive(FSDP, "--solve", "Q", "-o", str(tmp_path / "out"))
    if target == "folder":
        bad = derive(FSDP, "-o", str(tmp_path / "out"))
    with pytest.raises(SystemExit) as stopped:
        main(bad)
    assert stopped.value.code == 2
    assert capsys.readouterr().out == ""
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    if target == "file":
        assert (tmp_path / "out").read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize(
    "program",
    [
        r"\text{In}[B_X, D] \cdot_D W_\text{in}[D_X, F] \rightarrow \text{Out}[B_X, F]",
        r"$\text{In}[B_X, D] \cdot W_{\text{in}}[D_X, F] \to \text{Out}[B_X, F]$",
        "In[B_X, D] · W_in[D_X, F] → Out[B_X, F]",
    ],
)
def test_latex_that_people_paste_is_read(program, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(derive(program, "--passes", "forward"))
    assert stopped.value.code == 0
    assert "AllGather_X: W_in[D_X, F] -> W_in[D, F]" in capsys.readouterr().out


def test_ctrl_c_is_no_traceback(monkeypatch, capsys):
    import symscale.derivation.question as question

    def interrupted(asked):
        raise KeyboardInterrupt

    monkeypatch.setattr(question, "derive", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main(derive(ONE))
    assert stopped.value.code == 2
    assert "interrupted" in capsys.readouterr().err


def test_a_fault_of_our_own_is_no_traceback(monkeypatch, capsys):
    import symscale.derivation.question as question

    def broken(asked):
        raise TypeError("cannot do this\nsecond line")

    monkeypatch.setattr(question, "derive", broken)
    with pytest.raises(SystemExit) as stopped:
        main(derive(ONE))
    assert stopped.value.code == 2
    assert "a fault of symscale, not of the input (TypeError: cannot do this)" in capsys.readouterr().err
    monkeypatch.setenv("SYMSCALE_DEBUG", "1")
    with pytest.raises(TypeError):
        main(derive(ONE))


def test_a_wrong_expectation_is_exit_code_one(monkeypatch, capsys):
    from symscale.derivation import registry

    def wrong(d):
        layer = d.program(ONE, passes=("forward",))
        t = d.times(layer, "forward")
        d.crossover(t.math, ">=", t.hbm, "B", resource="hbm")
        d.evaluate(on="tpu-v5e", expect="300")

    monkeypatch.setattr(registry, "entry", lambda name: registry.Entry(name, "Wrong", "", wrong))
    with pytest.raises(SystemExit) as stopped:
        main(["show", "wrong"])
    assert stopped.value.code == 1
    assert "300 is expected" in capsys.readouterr().err
