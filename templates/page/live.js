// Every number of a derivation, counted again when an input changes.
"use strict";

const HOLDS = { "<": (s) => s < 0, "<=": (s) => s <= 0, ">": (s) => s > 0, ">=": (s) => s >= 0, "==": (s) => s === 0 };
const SIGNS = { "<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=" };
const MATHML = "http://www.w3.org/1998/Math/MathML";
const BOARDS = [];

const byId = (id) => document.getElementById(id);

function derivation(data) {
  const board = {
    ...data,
    typed: new Map(),
    chosen: "",
    root: byId(data.key),
    vectors: [],
    near: false,
    inputs: data.inputs.map(([name, unit, start, several, example, onChip]) => ({ name, unit, start, several, example, onChip })),
  };
  board.values = board.numbers.map(() => undefined);
  board.settings = board.settings.map((rows) => new Map(rows));
  BOARDS.push(board);
  return board;
}

// ---------------------------------------------------------------- what the inputs are

function chipFigure(board, name) {
  const figures = CHIPS[board.chosen];
  return (name === "C" ? figures[`C_${board.kind}`] : figures[name]) || null;
}

// the number that a place has for formulas of one setting: typed, the chosen chip's, the step's own, the start
function valueAt(board, place, setting) {
  if (board.typed.has(place)) return board.typed.get(place).value || null;
  const input = board.inputs[place];
  if (board.chosen && input.onChip) return chipFigure(board, input.name);
  return setting.has(place) ? setting.get(place) : input.start;
}

function vectorsOf(board) {
  return board.settings.map((setting) => board.inputs.map((_, place) => valueAt(board, place, setting)));
}

// why a number has no value: an input that is missing, or one that the chip lacks
function missing(board, vector, needs) {
  const lacking = needs.filter((place) => vector[place] === null);
  if (!lacking.length) return "";
  const names = lacking.map((place) => board.inputs[place].name);
  const offChip = lacking.find((place) => board.chosen && board.inputs[place].onChip && !board.typed.has(place));
  if (offChip !== undefined) {
    const name = board.inputs[offChip].name;
    return `${board.chosen} has no ${name === "C" ? `${board.kind} peak` : name}`;
  }
  return `needs ${names.join(", ")}`;
}

// ---------------------------------------------------------------- what is written

function setText(element, text) {
  if (element.dataset.text === text) return;
  element.dataset.text = text;
  const power = /^(.*?)(-?)(?:([\d.,]+) × )?10\^(-?\d+)(.*)$/.exec(text);
  if (!power) {
    element.textContent = text;
    return;
  }
  const part = (tag, ...inside) => {
    const made = document.createElementNS(MATHML, tag);
    made.append(...inside);
    return made;
  };
  const row = part("math");
  const [, before, minus, mantissa, exponent, after] = power;
  if (minus) row.append(part("mo", "−"));
  if (mantissa) row.append(part("mn", mantissa), part("mo", "×"));
  const raised = exponent.startsWith("-") ? part("mrow", part("mo", "−"), part("mn", exponent.slice(1))) : part("mn", exponent);
  row.append(part("msup", part("mn", "10"), raised));
  element.replaceChildren(before, row, after);
}

const spelled = ([number, unit]) => (unit ? `${number} ${unit}` : number);

function writeNumber(board, place, changed) {
  const [setting, unit, f, needs, relation, when, whenNeeds] = board.numbers[place];
  const vector = board.vectors[setting];
  const old = changed && changed[setting];
  const all = relation ? [...needs, ...relation.needs, ...whenNeeds] : [...needs, ...whenNeeds];
  // what is missing is said again: another chip may lack it
  if (old && all.every((each) => vector[each] !== null && old[each] === vector[each])) return;
  const element = byId(`${board.key}-n${place}`);
  const lacks = missing(board, vector, needs);
  const value = lacks ? null : f(exact, vector);
  board.values[place] = value;
  if (!element) return;
  const box = element.closest(".now, .value, td, li") || element;
  const apart = element.classList.contains("beside");
  box.classList.toggle("lacking", value === null);
  if (value === null) {
    setText(element, lacks || "no real value here");
    verdict(element, "", "");
    return;
  }
  if (when.length && !missing(board, vector, whenNeeds) && !when.every((each) => truth(each, vector))) {
    setText(element, "this case does not apply here");
    box.classList.add("lacking");
    verdict(element, "", "");
    return;
  }
  const shown = formatQuantity(value, unit, 6);
  const sign = relation ? `${SIGNS[relation.op]} ` : "= ";
  if (apart) setText(element, sign + spelled(shown));
  else {
    setText(element, shown[0]);
    const beside = element.nextElementSibling;
    if (beside && beside.classList.contains("unit")) beside.textContent = shown[1];
    else if (shown[1]) setText(element, spelled(shown));
  }
  if (relation) judge(board, element, relation, value, vector);
}

// a number as it was typed, where that is not too long
function readable(x) {
  return x.q === 1n && x.p < 10n ** 12n ? grouped(x.p.toString()) : formatNumber(x, 6);
}

function truth([left, sign, right], vector) {
  const a = left(exact, vector), b = right(exact, vector);
  return a !== null && b !== null && HOLDS[sign](compare(a, b));
}

// says whether a relation holds at the inputs
function judge(board, element, relation, value, vector) {
  if (missing(board, vector, relation.needs)) return verdict(element, "", "");
  const here = relation.f(exact, vector);
  if (here === null) return verdict(element, "", "");
  const holds = HOLDS[relation.op](compare(here, value));
  return verdict(element, holds ? "holds" : "fails", `${holds ? "holds" : "does not hold"} at ${readable(here)}`);
}

function verdict(element, kind, text) {
  const found = element.closest(".row");
  const badge = found && found.querySelector(".verdict");
  if (!badge) return;
  setText(badge, text);
  badge.className = `verdict ${kind}`;
}

// the number of a cell stands in its column's unit, that of the smallest unless the largest would be long
function writeColumn(board, place) {
  const [unit, cells] = board.columns[place];
  const values = cells.map((each) => (typeof each === "number" ? board.values[each] : each));
  const order = values.filter((each) => each && each.p !== 0n).sort(compare);
  let step = 0, word = unit;
  const prefixed = PREFIXED.test(unit);
  if (unit && order.length) {
    word = displayed(order[0], unit, 6)[1];
    step = prefixed ? prefixOf(order[0], 6, unit === "s")[1] : 0;
    const largest = thousandths(order[order.length - 1], step);
    if (largest.p >= 10000n * largest.q) {
      const middle = order[Math.floor(order.length / 2)];
      word = displayed(middle, unit, 6)[1];
      step = prefixed ? prefixOf(middle, 6, unit === "s")[1] : 0;
    }
  }
  byId(`${board.key}-c${place}`).textContent = word ? `[${word}]` : "";
  cells.forEach((each, n) => {
    if (typeof each === "number" && values[n]) setText(byId(`${board.key}-n${each}`), formatNumber(thousandths(values[n], step), 4));
  });
}

// the case of an answer that holds at the inputs
function writeAnswer(board, place) {
  const answer = board.answers[place];
  const vector = board.vectors[answer.at];
  const element = byId(`${board.key}-a${place}`);
  element.closest(".answer").hidden = false;
  const found = answer.cases.find(([when]) => when.every((each) => truth(each, vector)));
  if (!found) {
    const lacks = missing(board, vector, answer.needs);
    setText(element, lacks ? `${lacks} to choose the case` : "no case applies here");
    return;
  }
  const said = found[1].map(([low, lowOpen, high, highOpen]) => {
    const a = low(exact, vector), b = high(exact, vector);
    const parts = [];
    if (a === null || b === null) return "no real value here";
    if (a.infinite || a.p !== 0n) parts.push(`${lowOpen ? ">" : "≥"} ${spelled(formatQuantity(a, answer.unit, 6))}`);
    if (!b.infinite) parts.push(`${highOpen ? "<" : "≤"} ${spelled(formatQuantity(b, answer.unit, 6))}`);
    return parts.join(" and ") || "every value is enough";
  });
  setText(element, said.length ? said.join(", or ") : "no value is enough");
}

// times side by side; the longest binds
function writeBars(board, place) {
  const [passes, rows] = board.bars[place];
  const box = byId(`${board.key}-b${place}`);
  const values = rows.map(([, number]) => board.values[number] || null);
  const main = rows.map((row, n) => (row[2] ? null : values[n]));
  const known = main.filter((each) => each !== null);
  const complete = rows.every((row, n) => row[2] || values[n] !== null);
  const most = known.length ? known.reduce((a, b) => (compare(a, b) >= 0 ? a : b)) : null;
  rows.forEach((row, n) => {
    const line = box.children[n];
    const value = values[n];
    const share = value === null || most === null || most.p === 0n ? 0 : toFloat(exact.div(value, most));
    line.querySelector(".fill").style.width = `${(100 * Math.min(share, 1)).toFixed(2)}%`;
    setText(line.querySelector(".amount"), value === null ? "–" : spelled(formatQuantity(value, "s", 4)));
    line.classList.toggle("binding", complete && !row[2] && most !== null && value !== null && compare(value, most) === 0);
  });
  const words = bindingWords(rows, values, most, complete);
  box.parentElement.querySelector(".binds").textContent = words;
  return words && passes ? `${passes}: ${words}` : words;
}

function bindingWords(rows, values, most, complete) {
  if (!complete || most === null) return "";
  const longest = rows.filter((row, n) => !row[2] && compare(values[n], most) === 0).map((row) => row[0]);
  const axes = rows.map((row, n) => [row, values[n]]).filter(([row, time]) => row[2] && time !== null);
  let where = "";
  if (axes.length > 1 && !longest.some((each) => each === "Arithmetic" || each === "HBM")) {
    const slowest = axes.reduce((a, b) => (compare(a[1], b[1]) >= 0 ? a : b));
    where = `, ${slowest[0][0]} the slowest`;
  }
  return `${longest.join(" and ")} ${longest.length > 1 ? "bind" : "binds"}${where}`;
}

// ---------------------------------------------------------------- one pass over a derivation

function refresh(board) {
  const before = board.vectors.length ? board.vectors : null;
  board.vectors = vectorsOf(board);
  for (let place = 0; place < board.numbers.length; place += 1) writeNumber(board, place, before);
  board.columns.forEach((_, place) => writeColumn(board, place));
  board.answers.forEach((_, place) => writeAnswer(board, place));
  const binding = board.bars.map((_, place) => writeBars(board, place)).filter(Boolean);
  if (board.near) draw(board);
  const changed = board.typed.size > 0 || board.chosen !== "";
  board.root.classList.toggle("changed", changed);
  for (const each of board.root.querySelectorAll(".step .chip")) each.textContent = board.chosen || board.chip;
  summarise(board, binding);
}

function draw(board) {
  board.maps.forEach((_, place) => drawMap(board, place));
  board.plots.forEach((_, place) => drawPlot(board, place));
}

function summarise(board, binding) {
  const output = board.root.querySelector(".summary");
  if (!output) return;
  const count = (kind) => board.root.querySelectorAll(`.verdict.${kind}`).length;
  const holds = count("holds"), fails = count("fails");
  const parts = [...new Set(binding)];
  if (holds + fails) parts.push(`${holds} of ${holds + fails} conditions ${holds + fails === 1 ? "holds" : "hold"}`);
  const text = parts.length ? `${parts.join("; ")}.` : "";
  if (output.textContent !== text) output.textContent = text;
}
