// Two arithmetics for the same formulas: `exact` counts with fractions of whole numbers, `floats` draws.
// An exact value is {p, q, known}: p/q in lowest terms; a root, a logarithm and what grows beyond LONG are cut to DIGITS
// and no longer known.
"use strict";

const DIGITS = 50n;
const TEN = 10n ** DIGITS;
const LONG = 1n << 4096n;

const magnitude = (n) => (n < 0n ? -n : n);
const digitsOf = (n) => BigInt(magnitude(n).toString().length);

function divisor(a, b) {
  a = magnitude(a);
  b = magnitude(b);
  while (b) [a, b] = [b, a % b];
  return a;
}

function fraction(p, q, known = true) {
  if (q === 0n) return null;
  if (q < 0n) [p, q] = [-p, -q];
  if (q > LONG || p > LONG || p < -LONG) return cut(p, q);
  if (q !== 1n) {
    const shared = divisor(p, q);
    if (shared !== 1n) [p, q] = [p / shared, q / shared];
  }
  return known ? { p, q, known } : cut(p, q);
}

// a value that is not known exactly keeps DIGITS digits, or its fractions would grow without end
function cut(p, q) {
  const most = digitsOf(p) > digitsOf(q) ? digitsOf(p) : digitsOf(q);
  if (most <= 2n * DIGITS) return { p, q, known: false };
  const places = DIGITS - digitsOf(p) + digitsOf(q);
  const scale = 10n ** magnitude(places);
  return places >= 0n ? { p: (p * scale) / q, q: scale, known: false } : { p: (p / (q * scale)) * scale, q: 1n, known: false };
}

// the whole part of the root of a whole number, by Newton's method from above
function wholeRoot(n, index) {
  if (n < 2n) return n;
  let near = 1n << BigInt(Math.ceil(n.toString(2).length / Number(index)));
  for (;;) {
    const next = ((index - 1n) * near + n / near ** (index - 1n)) / index;
    if (next >= near) return near;
    near = next;
  }
}

function floorOf(x) {
  const down = x.p / x.q;
  return x.p < 0n && down * x.q !== x.p ? down - 1n : down;
}

// fixed-point numbers of DIGITS + 10 places, for logarithms and exponentials
const ONE = TEN * 10n ** 10n;

// 2 (t + t³/3 + t⁵/5 + …) = ln((1 + t)/(1 − t))
function series(t) {
  const square = (t * t) / ONE;
  let term = t, sum = 0n;
  for (let n = 1n; term !== 0n; n += 2n) {
    sum += term / n;
    term = (term * square) / ONE;
  }
  return 2n * sum;
}

const LN2 = series(ONE / 3n);

function lnFixed(x) {
  const twos = BigInt(x.p.toString(2).length - x.q.toString(2).length);
  const scaled = twos >= 0n ? { p: x.p, q: x.q << twos } : { p: x.p << -twos, q: x.q };
  return twos * LN2 + series(((scaled.p - scaled.q) * ONE) / (scaled.p + scaled.q));
}

function expFixed(fixed) {
  const twos = fixed / LN2;
  const rest = fixed - twos * LN2;
  let term = ONE, sum = 0n;
  for (let n = 1n; term !== 0n; n += 1n) {
    sum += term;
    term = (term * rest) / (ONE * n);
  }
  return twos >= 0n ? fraction(sum << twos, ONE, false) : fraction(sum, ONE << -twos, false);
}

// every operation hands on null: what has no value has none in any formula
const lifted = (operation) => (...parts) => (parts.some((each) => each === null || each === undefined) ? null : operation(...parts));

const INFINITE = { infinite: true };

const exact = {
  oo: INFINITE,
  n: (p) => ({ p, q: 1n, known: true }),
  q: (p, q) => fraction(p, q),
  near: (p, q) => fraction(p, q, false),
  add: lifted((...parts) => parts.reduce((a, b) => fraction(a.p * b.q + b.p * a.q, a.q * b.q, a.known && b.known))),
  mul: lifted((...parts) => parts.reduce((a, b) => fraction(a.p * b.p, a.q * b.q, a.known && b.known))),
  div: lifted((a, b) => fraction(a.p * b.q, a.q * b.p, a.known && b.known)),
  power: lifted((x, n) => {
    if (n < 0n) return x.p === 0n ? null : exact.power(fraction(x.q, x.p, x.known), -n);
    let result = exact.n(1n);
    for (let square = x; n > 0n; square = exact.mul(square, square), n >>= 1n) {
      if (n & 1n) result = exact.mul(result, square);
      if (n === 1n) break;
      if (digitsOf(square.p) + digitsOf(square.q) > 100000n) return null;
    }
    return result;
  }),
  root: lifted((x, index) => {
    if (x.p < 0n) return null;
    const p = wholeRoot(x.p, index), q = wholeRoot(x.q, index);
    if (p ** index === x.p && q ** index === x.q) return fraction(p, q, x.known);
    const scale = 10n ** (DIGITS + digitsOf(x.q) + 5n);
    return fraction(wholeRoot((x.p * scale ** index) / x.q, index), scale, false);
  }),
  raised: lifted((x, n) => {
    if (n.q === 1n) return exact.power(x, n.p);
    if (n.known && n.q < 100n) return exact.root(exact.power(x, n.p), n.q);
    return exact.exp(exact.mul(n, exact.log(x)));
  }),
  max: lifted((...parts) => parts.reduce((a, b) => (compare(a, b) >= 0 ? a : b))),
  min: lifted((...parts) => parts.reduce((a, b) => (compare(a, b) <= 0 ? a : b))),
  floor: lifted((x) => exact.n(floorOf(x))),
  ceil: lifted((x) => exact.n(-floorOf({ p: -x.p, q: x.q }))),
  log: lifted((x) => {
    if (x.p <= 0n) return null;
    return x.p === x.q ? exact.n(0n) : fraction(lnFixed(x), ONE, false);
  }),
  logs: lifted((x, base) => {
    if (compare(x, base) === 0) return exact.n(1n);
    if (x.p === base.q && x.q === base.p) return exact.n(-1n);
    return exact.div(exact.log(x), exact.log(base));
  }),
  exp: lifted((x) => {
    if (x.p === 0n) return exact.n(1n);
    return magnitude(x.p) / x.q > 10000n ? null : expFixed((x.p * ONE) / x.q);
  }),
};

// the sign of a − b
function compare(a, b) {
  if (a.infinite || b.infinite) return a.infinite ? (b.infinite ? 0 : 1) : -1;
  const difference = a.p * b.q - b.p * a.q;
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

function toFloat(x) {
  if (x === null || x === undefined) return NaN;
  if (x.infinite) return Infinity;
  const shift = digitsOf(x.q) - digitsOf(x.p) + 20n;
  const whole = shift >= 0n ? (x.p * 10n ** shift) / x.q : x.p / (x.q * 10n ** -shift);
  return Number(`${whole}e${-shift}`);
}

const floats = {
  oo: Infinity,
  n: Number,
  q: (p, q) => Number(p) / Number(q),
  near: (p, q) => toFloat(fraction(p, q)),
  add: (...parts) => parts.reduce((a, b) => a + b),
  mul: (...parts) => parts.reduce((a, b) => a * b),
  div: (a, b) => a / b,
  power: (x, n) => x ** Number(n),
  root: (x, index) => (index === 2n ? Math.sqrt(x) : x ** (1 / Number(index))),
  raised: (x, n) => x ** n,
  max: Math.max,
  min: Math.min,
  floor: Math.floor,
  ceil: Math.ceil,
  log: Math.log,
  logs: (x, base) => Math.log(x) / Math.log(base),
  exp: Math.exp,
};
