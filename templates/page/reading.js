// What a reader types: 4096, 28,672, 4Ki, 2^12, 1e6, 3*128, 459 TFLOP/s. Returns {value} or {fault}.
"use strict";

const SCALES = {
  k: [10n, 3n], M: [10n, 6n], G: [10n, 9n], T: [10n, 12n], P: [10n, 15n], E: [10n, 18n],
  Ki: [2n, 10n], Mi: [2n, 20n], Gi: [2n, 30n], Ti: [2n, 40n], Pi: [2n, 50n],
  m: [10n, -3n], "µ": [10n, -6n], "μ": [10n, -6n], u: [10n, -6n], n: [10n, -9n], p: [10n, -12n],
};
const NUMERAL = /^(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d{3})*)(?:\.\d*)?(?:e[+-]?\d{1,3})?|^\.\d+(?:e[+-]?\d{1,3})?/i;
const LONGEST = 60;
const HOW = "Write a number such as 4096, 28,672, 4Ki, 2^12 or 1e6";

const COUNTED = /^(?:tokens?|chips?|elements?|heads?|layers?|sequences?|experts?|params?|physical axes)$/;

function readNumber(text, unit) {
  let rest = text.trim().replace(/−/g, "-");
  if (!rest) return { fault: `${HOW}.` };
  if (rest.length > LONGEST) return { fault: `At most ${LONGEST} characters.` };
  if (/^-/.test(rest)) return { fault: "It must be more than 0." };
  let total = null;
  let sign = "*";
  for (;;) {
    const factor = readFactor(rest, unit);
    if (factor.fault) return factor;
    total = total === null ? factor.value : sign === "*" ? exact.mul(total, factor.value) : exact.div(total, factor.value);
    rest = factor.rest.trim();
    if (!rest) break;
    const found = /^(\*|×|·|\/)(?!\*)/.exec(rest);
    if (!found) return { fault: `“${rest.slice(0, 12)}” is not understood. ${HOW}.` };
    sign = found[1] === "/" ? "/" : "*";
    rest = rest.slice(1).trim();
  }
  if (total === null || total.p <= 0n) return { fault: "It must be more than 0." };
  if (digitsOf(total.p) > 400n || digitsOf(total.q) > 400n) return { fault: "That is too long a number." };
  return { value: total };
}

function readFactor(text, unit) {
  const found = NUMERAL.exec(text);
  if (!found) return { fault: `${HOW}${unit ? `, in ${unit}` : ""}.` };
  let value = numeral(found[0]);
  let rest = text.slice(found[0].length);
  const raised = /^\s*(?:\^|\*\*)\s*(-?\d{1,3})/.exec(rest);
  if (raised) {
    value = exact.power(value, BigInt(raised[1]));
    rest = rest.slice(raised[0].length);
    if (value === null) return { fault: "It must be more than 0." };
  }
  return suffixed(value, rest, unit);
}

// a prefix, a unit, or both: 4Ki, 16 GiB, 459 TFLOP/s, 3 ms
function suffixed(value, rest, unit) {
  const word = /^\s*([A-Za-zµμ$]+(?:\/[A-Za-z]+)?(?: axes)?)/.exec(rest);
  if (!word) return { value, rest };
  const left = rest.slice(word[0].length);
  const said = word[1];
  const bare = (part) => part === "" || part === unit || (unit === "" && COUNTED.test(part)) || (unit === "FLOP/s" && part === "FLOPs/s");
  if (bare(said)) return { value, rest: left };
  for (const prefix of [said.slice(0, 2), said.slice(0, 1)]) {
    if (SCALES[prefix] && bare(said.slice(prefix.length)) && allowed(prefix, unit)) {
      const [base, power] = SCALES[prefix];
      return { value: exact.mul(value, exact.power(exact.n(base), power)), rest: left };
    }
  }
  return { fault: `“${said}” is not a unit of this${unit ? `, which is in ${unit}` : ": it is a pure number"}.` };
}

// seconds are divided, everything else is multiplied
const allowed = (prefix, unit) => (SCALES[prefix][1] < 0n) === (unit === "s");

function numeral(text) {
  const [mantissa, power] = text.replace(/[,_]/g, "").toLowerCase().split("e");
  const [whole, part = ""] = mantissa.split(".");
  const places = BigInt(power || 0) - BigInt(part.length);
  const digits = BigInt(whole + part || 0);
  return places >= 0n ? exact.n(digits * 10n ** places) : fraction(digits, 10n ** -places);
}
