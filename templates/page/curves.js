// Curves of a derivation's formulas over one variable.
"use strict";

const STEPS = 120;

function drawPlot(board, number) {
  const plot = board.plots[number];
  const box = byId(`${board.key}-p${number}`);
  const vector = board.vectors[plot.at];
  const lacks = missing(board, vector, plot.needs);
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
  const points = lines.flatMap((line) => line.points).filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && y > 0);
  const [xLow, xHigh, yLow, yHigh] = plot.span;
  const heights = points.map((each) => each[1]);
  const fit = plot.changed && heights.length;
  const y = { low: fit ? Math.min(yLow, ...heights) : yLow, high: fit ? Math.max(yHigh, ...heights) : yHigh, log: plot.log[1] };
  const frame = frameOf(box, { low: xLow, high: xHigh, log: plot.log[0] }, y);
  const clip = `${board.key}-clip${number}`;
  const picture = svg("svg", { viewBox: `0 0 ${frame.width} ${frame.height}`, width: frame.width, height: frame.height, role: "img", "aria-label": plot.title });
  picture.append(clipped(clip, frame));
  const drawn = svg("g", { "clip-path": `url(#${clip})` });
  lines.forEach((line) => {
    const path = line.points.filter((each) => each.every(Number.isFinite)).map(([a, b]) => `${frame.px(a).toFixed(1)} ${frame.py(b).toFixed(1)}`);
    if (path.length) drawn.append(svg("path", { class: `curve line${line.colour % 6}${line.dashed ? " dashed" : ""}`, d: `M${path.join("L")}` }));
  });
  picture.append(drawn, axes(frame, plot.xName, plot.yName));
  box.replaceChildren(picture);
}

function traced(plot, curve, values) {
  const points = [];
  const own = values.slice();
  const count = curve.low === curve.high ? 0 : STEPS;
  for (let n = 0; n <= count; n += 1) {
    own[values.length] = count ? curve.low * (curve.high / curve.low) ** (n / count) : curve.low;
    points.push([curve.x(floats, own), curve.y(floats, own)]);
  }
  return { points, colour: curve.colour, dashed: curve.dashed };
}
