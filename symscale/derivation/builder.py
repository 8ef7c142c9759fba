"""The blackboard: every verb adds the steps it takes and returns what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from symscale.collectives import Cost
from symscale.cost import PassCost, Times, times
from symscale.derivation.answer import concluded, conclusion
from symscale.derivation.asking import Ask
from symscale.derivation.choices import choice_step, described
from symscale.derivation.crossover import Crossover, cross
from symscale.derivation.entered import Entered
from symscale.derivation.evaluate import evaluate
from symscale.derivation.given import program_step
from symscale.derivation.layer import Layer, lay, widest
from symscale.derivation.limits import read_limits
from symscale.derivation.measured import shown_in
from symscale.derivation.mesh import constraint
from symscale.derivation.minimum import Optimised, optimise
from symscale.derivation.networks import algorithm_step, collective_step, sending_step
from symscale.derivation.plotting import Plotting
from symscale.derivation.proof import Equal
from symscale.derivation.recount import Recount
from symscale.derivation.sizes import fitting
from symscale.derivation.spent import times_step
from symscale.derivation.step import Derivation, Step
from symscale.derivation.terms import OWN, SAME, Kinds, Terms, read
from symscale.derivation.verbs import (
    expected_answer,
    expected_formula,
    expected_number,
    in_limit,
    in_numbers,
)
from symscale.errors import SymscaleError
from symscale.machine import Machine
from symscale.notation.elaborate import elaborate
from symscale.notation.formula import parse_formula
from symscale.notation.order import Order, merge
from symscale.partition import Collective
from symscale.shown import Shown
from symscale.solve.limits import Limit
from symscale.solve.relation import Relation
from symscale.solve.terms import tidy
from symscale.vocabulary import symbol

PASSES = {
    "forward": ("forward",),
    "backward": ("backward",),
    "update": ("update",),
    "both": ("forward", "backward", "update"),
}


class Builder(Plotting, Shown):
    """A derivation being written: `d` in a derivation file."""

    def __init__(self, title: str, source: str = "", terms: Terms = OWN) -> None:
        self.title = title
        self.source = source
        self.terms = terms
        self.steps: list[Step] = []
        self.crossovers: list[Crossover] = []
        self.optima: list[Optimised] = []
        self.asks: list[Ask] = []
        self.entered: list[Entered] = []
        self.order = Order()
        self.layer: Layer | None = None
        self.kinds: Kinds = SAME
        self.follows = False
        self.again: Callable[[Terms], Derivation] | None = None

    @property
    def derivation(self) -> Derivation:
        """What has been written so far."""
        return Derivation(self.title, tuple(self.steps), self.order, self.source, tuple(self.entered), self.again)

    def add(self, step: Step) -> None:
        """Append a step."""
        self.steps.append(step)

    @staticmethod
    def read(text: str) -> sp.Expr:
        """Return the formula that a text writes, such as `4*B*D/W_node`."""
        return parse_formula(text).expr

    @staticmethod
    def symbol(name: str) -> sp.Symbol:
        """Return the positive symbol of this name, such as a number of physical axes `M_X`."""
        return symbol(name)

    def program(
        self,
        text: str,
        *,
        dtype: str = "bf16",
        on: str | Machine | None = None,
        mesh: Mapping[str, int | sp.Expr] | None = None,
        axes: Mapping[str, int | str | sp.Expr] | None = None,
        sizes: Mapping[str, sp.Expr] | None = None,
        values: Mapping[sp.Symbol, sp.Expr] | None = None,
        passes: Sequence[str] = ("forward", "backward", "update"),
        latency: bool = False,
        regather: bool = False,
        in_network: bool = False,
    ) -> Layer:
        """Read, plan and price a program, and write it down as given.

        `axes` gives for a mesh axis the number of physical axes it spans or the name of its network or level; with
        `in_network` switches add up the sums of AllReduces.
        Raises NotationError, LayoutError, MachineError.
        """
        chip, laid = self.lay_out(on, mesh)
        program = elaborate(text, mesh=laid, sizes=sizes or {})
        placement = {
            name: where if isinstance(where, str) else sp.Integer(where) if isinstance(where, int) else where
            for name, where in (axes or {}).items()
        }
        layer = lay(
            program,
            dtype=self.terms.dtype or dtype,
            machine=chip,
            placement=placement,
            values=values,
            passes=passes,
            latency=latency,
            regather=regather,
            in_network=in_network,
        )
        fitting(layer, values or {})
        self.layer = layer
        self.kinds = (widest(program, dtype), layer.kinds[0]) if self.terms.dtype and len(layer.kinds) == 1 else SAME
        self.follows |= layer.follows
        self.entered[-1] = replace(self.entered[-1], layer=layer)
        self.order = merge(self.order, layer.order)
        self.add(program_step(layer, text))
        return layer

    def counts(self, layer: Layer, which: str = "forward") -> None:
        """Write down what a pass sends, computes and touches, per chip."""
        cost = layer.costs[which]
        _collectives(self, layer, which)
        equations = [Relation(symbol("bytes_hbm"), "==", cost.hbm_bytes)] if cost.hbm_bytes != 0 else []
        what = [(which, "hbm")] if equations else []
        if cost.total_flops != 0:
            equations.insert(0, Relation(symbol("FLOPs"), "==", cost.total_flops))
            equations.append(Relation(symbol("intensity"), "==", intensity(cost)))
            what = [(which, "flops"), *what, (which, "intensity")]
        if cost.vector_flops != 0:
            equations.append(Relation(symbol("FLOPs_vector"), "==", cost.vector_flops))
            what.append((which, "vector"))
        for axis, received in cost.comm_bytes().items():
            equations.append(Relation(symbol(f"bytes_{axis}"), "==", received))
            what.append((which, f"axis:{axis}"))
        self.add(
            Step(
                "count",
                f"{which.capitalize()} pass: work and traffic of one chip",
                "A contraction takes 2 × the product of its local dimensions; a local operation reads its "
                "operands and writes its result once; over each mesh axis a chip receives what it lacks.",
                tuple(equations),
                (Recount(layer, tuple(what)),),
            )
        )

    def intensity(self, layer: Layer, which: str = "forward") -> sp.Expr:
        """Return the FLOPs per byte of HBM traffic of a pass, which `counts` writes down [FLOP/B]."""
        return intensity(layer.costs[which])

    def collective(
        self,
        kind: str,
        volume: str | sp.Expr,
        mesh: Mapping[str, int | sp.Expr],
        over: Sequence[str] = (),
        *,
        on: str | Machine | None = None,
        axes: Mapping[str, int | str | sp.Expr] | None = None,
        in_network: bool = False,
        copies: str | int | sp.Expr | None = None,
        latency: bool = False,
        both_ways: bool = True,
    ) -> Cost:
        """Return what a collective of `volume` bytes costs on its own, and write it down.

        `mesh` has the axes that lie on the network, `over` those of the collective (all of them if left out);
        `copies` k sends each token of an AllToAll to k of the chips; without `both_ways` rings turn one way only.
        Raises MachineError.
        """
        found, step = collective_step(
            kind,
            read(volume),
            {name: read(size) for name, size in mesh.items()},
            tuple(over) or tuple(mesh),
            self.terms.chip(on),
            {name: where if isinstance(where, str) else read(where) for name, where in (axes or {}).items()},
            in_network=in_network,
            copies=None if copies is None else read(copies),
            latency=latency,
            both_ways=both_ways,
        )
        self.steps.append(step)
        return found

    def all_reduce(
        self, algorithm: str, volume: str | sp.Expr, chips: str | int, egress: str = "W_nvlink", hop: str = "T_hop"
    ) -> sp.Expr:
        """Return the time of an AllReduce through one switch by a `ring` or two binary trees (`tree`), step by step."""
        found, step = algorithm_step(algorithm, read(volume), read(chips), read(egress), read(hop))
        self.steps.append(step)
        return found

    def send(
        self, volume: str | sp.Expr, *, paths: int = 1, hops: int = 1, egress: str = "W_link", hop: str = "T_hop"
    ) -> sp.Expr:
        """Return the time to send `volume` bytes to another chip over disjoint paths, the hops' latency included."""
        found, step = sending_step(read(volume), paths, hops, read(egress), read(hop))
        self.steps.append(step)
        return found

    def collectives(self, layer: Layer, which: str = "forward") -> None:
        """Write down the collectives of a pass, each with the whole array V over its axes [B]."""
        _collectives(self, layer, which)

    def times(self, layer: Layer, passes: str = "forward", *, overlap: str = "max", latency: bool = False) -> Times:
        """Turn the counts of a pass (or of `both`) into times, and write them down."""
        names = [name for name in PASSES[passes] if name in layer.costs]
        costs = [layer.costs[name] for name in names]
        overlap = self.terms.overlap or overlap
        found = times(costs, layer.kinds, layer.axes, overlap=overlap, latency=latency)
        self.add(times_step(layer, passes, names, found, overlap=overlap, latency=latency))
        return found

    def crossover(
        self,
        lhs: sp.Expr,
        op: str,
        rhs: sp.Expr,
        solve_for: str | sp.Expr,
        *,
        limits: str | Sequence[Limit] | None = None,
        exact: bool = False,
        passes: str = "",
        resource: str = "network",
        rule: Mapping[sp.Symbol, sp.Expr] | None = None,
        subject_to: str = "",
        title: str = "",
    ) -> Crossover:
        """Solve `lhs op rhs`, exactly and in the named limits, and in the dtype form.

        `limits` such as `B << D, F; X >> 1`; without them every mesh axis that stays a symbol is taken as long,
        and against HBM the unknown as small beside the other dimensions. `rule` eliminates a symbol, and so
        does a constraint such as `subject_to="X*Y = N_chips"`. `title` stands before the steps' own titles.
        Raises UndecidedError.
        """
        unknown = parse_formula(solve_for).expr if isinstance(solve_for, str) else solve_for
        if isinstance(limits, str):
            limits = read_limits(limits)
        if subject_to and self.layer is not None:
            rule = {**(rule or {}), **constraint(subject_to, self.layer, unknown)}
        found, steps = cross(
            Relation(lhs, op, rhs),
            unknown,
            self.layer,
            limits=limits,
            exact=exact,
            passes=passes,
            resource=resource,
            rule=rule or {},
        )
        self.steps += [replace(step, title=f"{title}: {step.title}") for step in steps] if title else steps
        self.crossovers.append(found)
        return found

    def evaluate(
        self,
        crossover: Crossover | None = None,
        *,
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | int] | None = None,
        expect: str | int | None = None,
    ) -> Crossover:
        """Put numbers into a crossover (the last one) and compare with what the author expects, if anything.

        Raises StepError if the expectation, read as a number to the digits given, is not met.
        """
        if not self.crossovers:
            raise SymscaleError("There is nothing to evaluate yet.", hint="Solve a crossover first.")
        crossover = crossover or self.crossovers[-1]
        found, steps = evaluate(crossover, self.layer, *self.put(on, values))
        self.steps += steps
        self.crossovers[self.crossovers.index(crossover)] = found
        if expect is not None and self.terms.own:
            expected_number(found.value, str(expect))
        return found

    def approximate(self, name: str, expr: sp.Expr, limits: str) -> sp.Expr:
        """Return a quantity in limits such as `B << D, F`, and write down what they drop. Raises UndecidedError."""
        found, step = in_limit(name, expr, limits)
        self.steps.append(step)
        return found

    def number(
        self,
        name: str,
        expr: sp.Expr,
        *,
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | int] | None = None,
        expect: str | None = None,
    ) -> sp.Expr:
        """Return a quantity with numbers put in. Raises StepError if it is not what the author expects."""
        found, step = in_numbers(name, expr, self.layer, *self.put(on, values))
        self.steps.append(step)
        if expect is not None and self.terms.own:
            expected_number(found, expect)
        return found

    def optimise(
        self,
        layer: Layer,
        spent: Times,
        over: str,
        *,
        subject_to: str = "",
        solve: str = "",
        passes: str = "forward",
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | int] | None = None,
    ) -> Optimised:
        """Return the mesh axis size that minimises the communication; `solve` asks what must hold to hide it there.

        Raises UndecidedError where the optimum is not known in closed form.
        """
        chip, given = self.put(on, values)
        found = optimise(
            self,
            layer,
            {passes: spent},
            over,
            subject_to=subject_to,
            solve=solve,
            numeric=given,
            chip=chip,
        )
        self.optima.append(found)
        return found

    def conclude(
        self,
        *,
        on: str | Machine | None = None,
        values: Mapping[str, sp.Expr | int] | None = None,
    ) -> int | None:
        """Write down the strictest condition, with its dtype form and numbers, and return its index in `crossovers`.

        Where several conditions bind, their conjunction is added to the crossovers; None if it has too many cases.
        `on` and `values` are what the crossovers were evaluated with.
        """
        if self.layer is None or not self.crossovers:
            return None
        chip, given = self.put(on, values)
        found, context = concluded(self.crossovers, self.layer, chip, given)
        self.steps += conclusion(found, context)
        if found.together is not None and found.together not in self.crossovers:
            self.crossovers.append(found.together)
        return None if found.together is None else self.crossovers.index(found.together)

    def remark(self, text: str, *equations: Relation, equal: Sequence[sp.Expr] = ()) -> None:
        """Note something that an equation shows; `equal` are the right sides, found another way."""
        self.add(_remark(text, equations, equal))

    def equal(self, name: str, found: sp.Expr, other: sp.Expr, text: str) -> None:
        """Note that two ways lead to the same quantity; the step is refused where they do not."""
        self.add(_remark(text, (Relation(symbol(name), "==", found),), (other,)))

    def expect(self, found: sp.Expr | Crossover, text: str) -> None:
        """Compare what the author states with what was derived: a formula, or an answer such as `B/X >= C/W_ici`.

        The answers "always" and "never" are read too; without bytes per element the dtype form is meant.
        Raises StepError if they differ.
        """
        if not self.terms.own:
            return
        if isinstance(found, Crossover):
            expected_answer(found, self.layer, text)
        else:
            expected_formula(found, text)


def intensity(cost: PassCost) -> sp.Expr:
    """Return FLOPs per byte of HBM traffic, with what both share cancelled."""
    if cost.total_flops.is_Add:
        return cost.total_flops / cost.hbm_bytes
    return 1 / tidy([term / cost.total_flops for term in sp.Add.make_args(cost.hbm_bytes)])


def _collectives(d: Builder, layer: Layer, which: str) -> None:
    transfers = layer.costs[which].transfers
    equations = tuple(Relation(symbol(f"V_{n}"), "==", each.volume) for n, each in enumerate(transfers, 1))
    lines = tuple(described(each.collective) for each in transfers)
    free = [
        described(each)
        for each in layer.plan.passes[which]
        if isinstance(each, Collective) and each.kind in ("Slice", "Mask")
    ]
    reason = (
        "Each change of layout is one collective; V is the whole array over its axes, per chip."
        if transfers
        else "Every operation finds its operands where it needs them: nothing is sent."
    )
    if free:
        reason += " Free: " + "; ".join(free) + "."
    for choice in layer.plan.choices[which]:
        step = choice_step(layer, choice)
        if step is not None:
            d.add(step)
    proof = Recount(layer, tuple((which, f"volume:{n}") for n in range(len(transfers))))
    d.add(Step("count", f"{which.capitalize()} pass: collectives", reason, equations, (proof,), lines=lines))


def _remark(text: str, equations: Sequence[Relation], equal: Sequence[sp.Expr]) -> Step:
    units = tuple(shown_in(each.lhs, each.rhs, each.rhs) if each.op == "==" else "" for each in equations)
    return Step("remark", "Remark", text, tuple(equations), (Equal(tuple(equal)),), units=units if any(units) else ())
