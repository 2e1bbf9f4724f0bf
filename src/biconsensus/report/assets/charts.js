// Bars, histograms and lines as SVG.
const WIDE = innerWidth < 560 ? 420 : 900;

function axisLabels(svg, ticks, x, y, text = number) {
  for (const value of ticks) svg.append(draw("text", { x: x(value), y, "text-anchor": "middle", text: text(value) }));
}
// layers(): for each group, the counts of the bins.
function histogram(place, edges, layers, options) {
  const H = 220, left = 56, bottom = 40, width = WIDE - left - 16, height = H - bottom - 12;
  const low = edges[0], span = edges[edges.length - 1] - low, x = (value) => left + width * (value - low) / span;
  let svg = null;
  shows(() => {
    const all = layers(), totals = edges.slice(1).map((_, bin) => all.reduce((sum, layer) => sum + layer[bin], 0));
    const top = Math.max(1, ...totals), y = (value) => 12 + height * (1 - value / top);
    svg = draw("svg", { viewBox: `0 0 ${WIDE} ${H}`, role: "img", "aria-label": options.label });
    edges.slice(1).forEach((right, bin) => {
      let floor = 0;
      all.forEach((layer, group) => {
        if (!layer[bin]) return;
        const box = { x: x(edges[bin]) + .5, width: Math.max(1, x(right) - x(edges[bin]) - 1), y: y(floor + layer[bin]), height: y(floor) - y(floor + layer[bin]) };
        const rect = draw("rect", { ...box, fill: options.plain ? COLORS[0] : color(group), opacity: options.plain || !faded(group) ? 1 : .15 });
        tipped(rect, [plural(layer[bin], "element") + (options.plain ? "" : " of " + groupName(group)), "between " + number(edges[bin]) + " and " + number(right)]);
        if (!options.plain) rect.addEventListener("click", () => select(group));
        svg.append(rect);
        floor += layer[bin];
      });
    });
    svg.append(draw("line", { class: "axis", x1: left, x2: left + width, y1: y(0), y2: y(0) }),
      draw("text", { x: left - 6, y: 20, "text-anchor": "end", text: number(top) }), draw("text", { x: left - 6, y: y(0), "text-anchor": "end", text: "0" }),
      draw("text", { x: left + width / 2, y: H - 4, "text-anchor": "middle", text: options.axis || "" }));
    axisLabels(svg, [0, 1, 2, 3, 4].map((k) => Number((low + span * k / 4).toPrecision(3))), x, H - 22);
    if (options.limit !== undefined) svg.append(draw("line", { class: "limit", x1: x(options.limit), x2: x(options.limit), y1: 8, y2: y(0) }));
    place.replaceChildren(svg);
  }, place.parentElement);
  savable(place.parentElement, options.name, () => svg);
}

function bars(place, rows, options) {
  const step = 20, H = rows.length * step + 12, left = Math.min(260, .4 * WIDE), width = WIDE - left - 50, most = Math.floor(left / 6.8);
  const top = options.top || Math.max(1e-12, ...rows.map((row) => row.value || 0));
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${H}`, role: "img", "aria-label": options.label });
  rows.forEach((row, k) => {
    const y = 4 + k * step, value = Math.max(0, row.value || 0), name = row.name.length > most ? row.name.slice(0, most - 1) + "…" : row.name;
    const rect = draw("rect", { x: left, y: y + 3, width: Math.max(.5, width * Math.min(1, value / top)), height: step - 6, fill: row.color });
    tipped(rect, row.lines);
    if (row.click) { rect.setAttribute("class", "link"); rect.addEventListener("click", row.click); }
    svg.append(draw("text", { x: left - 8, y: y + step - 6, "text-anchor": "end", text: name }), rect,
      draw("text", { x: left + width * Math.min(1, value / top) + 6, y: y + step - 6, text: row.value === null ? "–" : number(row.value, options.digits) }));
  });
  if (options.limit !== undefined && options.limit !== null) {
    const x = left + width * Math.min(1, options.limit / top);
    svg.append(draw("line", { class: "limit", x1: x, x2: x, y1: 0, y2: H - 6 }));
  }
  const figure = make("div", { class: "figure" }, svg);
  place.append(figure);
  savable(figure, options.name, () => svg);
}

// curves: [{ name, color, x: [], y: [] }], drawn over one pair of axes; options.pick(index) is called for dots.
function lines(place, curves, options) {
  const full = Math.min(WIDE, options.wide || WIDE), H = options.height || 240, left = 62, bottom = 42, right = options.legend ? 178 : 24, width = full - left - right, height = H - bottom - 14;
  const finite = (values) => values.filter((value) => value !== null && Number.isFinite(value));
  const xs = finite(curves.flatMap((curve) => curve.x)), ys = finite(curves.flatMap((curve) => curve.y));
  const x0 = options.x ? options.x[0] : Math.min(...xs), x1 = options.x ? options.x[1] : Math.max(...xs);
  const y0 = options.y ? options.y[0] : Math.min(0, ...ys), y1 = options.y ? options.y[1] : Math.max(...ys);
  const x = (value) => left + width * (value - x0) / (x1 - x0 || 1), y = (value) => 14 + height * (1 - (value - y0) / (y1 - y0 || 1));
  const svg = draw("svg", { viewBox: `0 0 ${full} ${H}`, role: "img", "aria-label": options.label });
  svg.append(draw("line", { class: "axis", x1: left, x2: left + width, y1: y(y0), y2: y(y0) }), draw("line", { class: "axis", x1: left, x2: left, y1: 14, y2: y(y0) }),
    draw("text", { x: left + width / 2, y: H - 4, "text-anchor": "middle", text: options.xName }),
    draw("text", { x: left - 12, y: 22, "text-anchor": "end", text: number(y1) }), draw("text", { x: left - 12, y: y(y0), "text-anchor": "end", text: number(y0) }),
    draw("text", { x: 12, y: 14 + height / 2, transform: `rotate(-90 12 ${14 + height / 2})`, "text-anchor": "middle", text: options.yName }));
  axisLabels(svg, options.ticks || [x0, (x0 + x1) / 2, x1], x, H - 24, options.tickText);
  const marks = [];
  curves.forEach((curve, c) => {
    const spots = curve.x.map((value, k) => [value, curve.y[k], k]).filter(([, value]) => value !== null && Number.isFinite(value));
    svg.append(draw("path", { class: "line", stroke: curve.color, d: spots.map(([a, b], k) => `${k ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") }));
    if (curve.dots) for (const [a, b, k] of spots) {
      const dot = draw("circle", { cx: x(a), cy: y(b), r: 4, fill: curve.color, class: options.pick ? "link" : "" });
      tipped(dot, curve.dots(k));
      if (options.pick) dot.addEventListener("click", () => options.pick(k));
      marks.push([dot, k]);
      svg.append(dot);
    }
    if (options.legend) svg.append(draw("rect", { x: full - right + 14, y: 16 + 18 * c, width: 14, height: 4, fill: curve.color }), draw("text", { x: full - right + 34, y: 22 + 18 * c, text: curve.name }));
  });
  place.append(svg);
  savable(place, options.name, () => svg);
  return marks;
}
