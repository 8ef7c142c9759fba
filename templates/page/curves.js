// Curves of a derivation's formulas over one variable.
"use strict";

const STEPS = 120;

function drawPlot(board, number) {
  const plot = board.plots[number];
  const box = byId(`${board.key}-p${number}`);
  const vector = board.vectors[plot.at];
  const lacks = missing(board, plot.at, plot.needs);
  const note = box.parentElement.querySelector(".here");
  box.parentElement.classList.toggle("lacking", Boolean(lacks));
  if (lacks) {
    box.replaceChildren();
    note.textContent = `The curves ${lacks.startsWith("needs") ? lacks : `cannot be drawn: ${lacks}`}.`;
    return;
  }
  note.textContent = "";
  const values = vector.map(toFloat);
  const lines = plot.curves.map((curve) => traced(plot, curve, values));
  const dots = plot.marks.map(([on, f]) => dotOf(plot, plot.curves[on], values, f(floats, values)));
  const points = [...lines.flatMap((line) => line.points), ...dots].filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && y > 0);
  const [xLow, xHigh, yLow, yHigh] = plot.span;
  const heights = points.map((each) => each[1]);
  const fit = board.typed.size + board.chosen.length + board.dtype.length > 0 && heights.length;
  const y = { low: fit ? Math.min(yLow, ...heights) : yLow, high: fit ? Math.max(yHigh, ...heights) : yHigh, log: plot.log[1] };
  const frame = frameOf(box, { low: xLow, high: xHigh, log: plot.log[0] }, y);
  const clip = `${board.key}-clip${number}`;
  const picture = svg("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, width: frame.width, height: frame.height, role: "img", "aria-label": plot.title });
  picture.append(clipped(clip, frame));
  const drawn = svg("g", { "clip-path": `url(#${clip})` });
  lines.forEach((line) => {
    const placed = line.points.map(([a, b]) => [frame.px(a), frame.py(b)]).filter((each) => each.every(Number.isFinite));
    const path = placed.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    if (line.moves && path.length) drawn.append(svg("path", { class: `curve line${line.colour % 6}${line.dashed ? " dashed" : ""}`, d: `M${path.join("L")}` }));
  });
  const placed = dots.map(([a, b]) => [frame.px(a), frame.py(b)]);
  const taken = placed.filter((each) => each.every(Number.isFinite));
  placed.forEach(([x, y], n) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    const [a, b] = beside(x, y, taken, frame);
    taken.push([a + 4, b - 5]);
    drawn.append(svg("circle", { class: "mark", cx: x, cy: y, r: 4.5 }), svg("text", { class: "label", x: a, y: b }, String(n + 1)));
  });
  picture.append(axes(frame, plot.xName, plot.yName), drawn);
  box.replaceChildren(picture);
}

// where the number of a mark stands: below it, above it or at its side, the first place that is on no other
function beside(x, y, taken, { inner }) {
  const places = [[8, 15], [-16, -7], [8, -7], [-16, 15], [-4, 22], [-4, -12], [18, 5], [-26, 5]].map(([a, b]) => [x + a, y + b]);
  const free = ([a, b]) => a > inner.left && a + 14 < inner.right && b - 10 > inner.top && b < inner.bottom && taken.every(([c, d]) => Math.hypot(c - a - 4, d - b + 5) > 15);
  return places.find(free) || places[0];
}

function traced(plot, curve, values) {
  const points = [];
  const own = values.slice();
  const count = curve.moves ? STEPS : 0;
  for (let n = 0; n <= count; n += 1) {
    own[values.length] = count ? curve.low * (curve.high / curve.low) ** (n / count) : curve.low;
    points.push([curve.x(floats, own), curve.y(floats, own)]);
  }
  return { points, colour: curve.colour, dashed: curve.dashed, moves: curve.moves };
}

function dotOf(plot, curve, values, along) {
  const own = [...values, along];
  return [curve.x(floats, own), curve.y(floats, own)];
}
