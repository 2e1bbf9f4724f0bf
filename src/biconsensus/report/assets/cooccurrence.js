// How often two elements are together: a heat map, its distribution, and where elements go along the path.
const MOST_HEAT = 240, MOST_TRACKED = 400, MOST_CURVES = 8;

function spread(items, most) {
  if (items.length <= most) return items;
  return [...Array(most).keys()].map((k) => items[Math.floor(k * items.length / most)]);
}
// (k x k) share of the sources that saw both elements and put them together; of hypotheses, shared over all of both.
function together(elements, of) {
  const k = elements.length, out = new Float32Array(k * k), sources = data.sourcesTotal;
  const inside = (j) => !of || of.has(candidateSource[j]);
  const sets = elements.map((i) => new Set(Array.from(heldLists[rowOf[i]]).filter(inside)));
  const hidden = elements.map((i) => (unseenLists ? new Set(unseenLists[rowOf[i]]) : null));
  const asked = of ? [...of] : [...Array(sources).keys()];
  for (let a = 0; a < k; a++) for (let b = a; b < k; b++) {
    let shared = 0;
    const [small, large] = sets[a].size < sets[b].size ? [sets[a], sets[b]] : [sets[b], sets[a]];
    for (const j of small) if (large.has(j)) shared++;
    let seen = asked.length;
    if (data.hypotheses) seen = sets[a].size + sets[b].size - shared;
    else if (hidden[a]) seen = asked.filter((s) => !hidden[a].has(viewOfSource[s]) && !hidden[b].has(viewOfSource[s])).length;
    out[a * k + b] = out[b * k + a] = seen ? Math.min(1, shared / seen) : 0;
  }
  return out;
}
function byGroup(elements) {
  const labels = labelsAt(), sure = confidenceAt(), last = (group) => (group < 0 ? 1e9 : group);
  return [...elements.keys()].sort((a, b) => last(labels[elements[a]]) - last(labels[elements[b]]) || sure[elements[b]] - sure[elements[a]] || a - b);
}

function cooccurrence() {
  const elements = spread(matrixRows(), MOST_HEAT), k = elements.length;
  if (k < 2) { at("cooccurrence").hidden = true; return; }
  const values = together(elements);
  if (k < data.elements.total) at("heat-note").textContent = `A sample: ${number(k)} of ${number(data.elements.total)} elements.`;
  heatMap(at("heat"), elements, values);
  itemConsensus(at("items"), elements, values);
  distributions(at("cdf"), elements);
  tracking(at("tracking"));
}
function heatMap(canvas, elements, values) {
  const k = elements.length;
  canvas.width = canvas.height = k;
  let order = [];
  shows(() => {
    order = byGroup(elements);
    const context = canvas.getContext("2d"), pixels = context.createImageData(k, k), ground = rgb(variable("--bg")), grey = rgb(GREY), labels = labelsAt();
    for (let a = 0; a < k; a++) for (let b = 0; b < k; b++) {
      const own = labels[elements[order[a]]], same = own >= 0 && own === labels[elements[order[b]]], ink = same ? rgb(color(own)) : grey;
      const share = values[order[a] * k + order[b]] * (state.group === null || (same && own === state.group) ? 1 : .3), c = 4 * (a * k + b);
      for (let channel = 0; channel < 3; channel++) pixels.data[c + channel] = ground[channel] + share * (ink[channel] - ground[channel]);
      pixels.data[c + 3] = 255;
    }
    context.putImageData(pixels, 0, 0);
  }, canvas);
  const cell = (event) => {
    const box = canvas.getBoundingClientRect(), clip = (share) => Math.min(k - 1, Math.max(0, Math.floor(share * k)));
    return [order[clip((event.clientY - box.top) / box.height)], order[clip((event.clientX - box.left) / box.width)]];
  };
  tipped(canvas, (event) => {
    const [a, b] = cell(event), labels = labelsAt();
    return [`${data.elements.ids[elements[a]]} (${groupName(labels[elements[a]])})`, `${data.elements.ids[elements[b]]} (${groupName(labels[elements[b]])})`,
      "together in " + number(100 * values[a * k + b], 0) + "% of the sources"];
  });
  canvas.addEventListener("click", (event) => select(labelsAt()[elements[cell(event)[0]]]));
  savable(canvas.parentElement, "co-occurrence", () => rasterSvg(canvas));
}
// Mean co-occurrence of each element with the members of each group, stacked.
function itemConsensus(canvas, elements, values) {
  const k = elements.length;
  paintable(canvas, (context, width, height) => {
    const labels = labelsAt(), order = byGroup(elements), groups = here().groups, members = Array.from({ length: groups }, () => []);
    elements.forEach((i, a) => { if (labels[i] >= 0) members[labels[i]].push(a); });
    const means = order.map((a) => members.map((own) => {
      let sum = 0;
      for (const b of own) if (b !== a) sum += values[a * k + b];
      return sum / Math.max(1, own.length - (own.includes(a) ? 1 : 0));
    }));
    const top = Math.max(1, ...means.map((row) => row.reduce((a, b) => a + b, 0))), step = width / order.length, floor = height - 10;
    order.forEach((a, n) => {
      const own = labels[elements[a]];
      let y = floor;
      context.globalAlpha = faded(own) ? .2 : 1;
      means[n].forEach((value, group) => {
        const h = value / top * (floor - 8);
        if (h < .3) return;
        context.fillStyle = color(group);
        context.fillRect(n * step, y - h, Math.max(.5, step - .3), h);
        y -= h;
      });
      context.fillStyle = color(own);
      context.fillRect(n * step, height - 7, Math.max(.5, step - .3), 7);
    });
    context.globalAlpha = 1;
  }, "item-consensus");
}
// For the sources that made the same number of groups: how often pairs are together. Flat in the middle is decided.
function distributions(place, elements) {
  const sizes = new Map();
  candidateSource.forEach((s, j) => { if (candidateSize[j] > 0) sizes.set(s, (sizes.get(s) || 0) + 1); });
  const byNumber = new Map();
  for (const [s, k] of sizes) byNumber.set(k, [...(byNumber.get(k) || []), s]);
  const fit = [...byNumber].filter(([, own]) => own.length > 1).sort((a, b) => b[1].length - a[1].length).slice(0, MOST_CURVES).sort((a, b) => a[0] - b[0]);
  if (data.hypotheses || data.overlap || !sizes.size) { at("cdf-figure").hidden = at("area-figure").hidden = true; return; }
  const steps = [...Array(51).keys()].map((k) => k / 50), few = spread(elements, 120);
  const curve = (values) => {
    const k = few.length, counts = new Float64Array(51);
    let pairs = 0;
    for (let a = 0; a < k; a++) for (let b = a + 1; b < k; b++) { counts[Math.min(50, Math.ceil(values[a * k + b] * 50 - 1e-9))]++; pairs++; }
    let sum = 0;
    return Array.from(counts, (count) => (sum += count) / Math.max(1, pairs));
  };
  const curves = fit.map(([k, own], c) => ({ name: `${k} groups (${plural(own.length, "source")})`, number: k, color: COLORS[c % COLORS.length], x: steps, y: curve(together(few, new Set(own))) }));
  if (!fit.length || fit[0][1].length < data.sources.length) curves.push({ name: "all sources", color: variable("--soft"), x: steps, y: curve(together(few)) });
  lines(place, curves, { wide: fit.length > 1 ? 560 : WIDE, label: "Cumulative distribution of co-occurrence by the number of groups of the sources", legend: true, x: [0, 1], y: [0, 1], ticks: [0, .25, .5, .75, 1],
    xName: "share of the sources that put a pair together", yName: "share of the pairs", name: "distribution" });
  const areas = curves.slice(0, fit.length).map((one) => one.y.slice(0, -1).reduce((sum, value) => sum + value, 0) / 50);
  if (areas.length < 2) { at("area-figure").hidden = true; return; }
  const change = areas.map((area, k) => (k ? (area - areas[k - 1]) / (areas[k - 1] || 1) : area));
  lines(at("area"), [{ name: "change", color: COLORS[0], x: fit.map(([k]) => k), y: change,
    dots: (k) => [curves[k].name, (k ? "change in area " : "area ") + number(change[k])] }],
    { wide: 560, label: "Relative change in the area under the distribution", ticks: fit.map(([k]) => k), xName: "groups of the sources", yName: "change in area", name: "change-in-area" });
}
// One row for each point of the path, one column for each element: where elements go as groups split.
function tracking(canvas) {
  if (points.length < 2) { canvas.parentElement.hidden = true; return; }
  const elements = spread(evenElements, MOST_TRACKED), left = 34;
  let order = [];
  paintable(canvas, (context, width, height) => {
    order = byGroup(elements);
    const step = (width - left) / order.length, tall = height / points.length;
    points.forEach((point, p) => {
      const labels = labelsAt(p);
      order.forEach((a, n) => {
        context.globalAlpha = faded(labelsAt()[elements[a]]) ? .2 : 1;
        context.fillStyle = color(labels[elements[a]], p);
        context.fillRect(left + n * step, p * tall, step + .3, tall - 1);
      });
      context.globalAlpha = 1; context.fillStyle = variable(p === state.point ? "--ink" : "--soft"); context.textAlign = "right";
      context.fillText((p === state.point ? "▸" : "") + point.groups, left - 5, p * tall + tall / 2 + 4);
    });
  }, "tracking");
  const spot = (event) => {
    const box = canvas.getBoundingClientRect(), clip = (share, size) => Math.min(size - 1, Math.max(0, Math.floor(share * size)));
    return [clip((event.clientY - box.top) / box.height, points.length), elements[order[clip((event.clientX - box.left - left) / (box.width - left), elements.length)]]];
  };
  tipped(canvas, (event) => { const [p, i] = spot(event); return [data.elements.ids[i], `${groupName(labelsAt(p)[i])} of ${points[p].groups}`]; });
  canvas.addEventListener("click", (event) => { const [p, i] = spot(event); goTo(p, labelsAt(p)[i]); });
}
