// The consensus tree: groups of every point of the path, from coarse to fine, and the elements that flow between them.
const SMALLEST_FLOW = .002, MOST_BARS_OF_TREE = 150;

function tree(place) {
  if (points.length < 2) { at("tree").hidden = true; return; }
  const H = 420, top = 34, bottom = 30, left = 14, right = 14, bar = 12, gap = 3;
  const wide = Math.max(WIDE, 64 * points.length), width = wide - left - right - bar, height = H - top - bottom;
  const total = data.elements.total, x = (p) => left + width * p / (points.length - 1);
  const order = orders(), ranks = order.map((groups) => new Map(groups.map((group, k) => [group, k]))), spots = points.map((_, p) => layout(p));
  let svg = null, mode = "group";

  function layout(p) {
    const found = {}, groups = order[p], pad = Math.min(gap, .25 * height / Math.max(1, groups.length));
    const scale = (height - pad * (groups.length - 1)) / total;
    let y = top;
    for (const group of groups) {
      const size = sizeOf(p, group);
      found[group] = { y, size, height: Math.max(.6, size * scale), scale };
      y += size * scale + pad;
    }
    return found;
  }
  function sizeOf(p, group) { return group < 0 ? points[p].outside : points[p].sizes[group]; }
  // In every column the groups stand where their elements stood in the column before.
  function orders() {
    const found = [];
    points.forEach((point, p) => {
      const all = [...point.sizes.keys()].sort((a, b) => point.sizes[b] - point.sizes[a]).slice(0, MOST_BARS_OF_TREE);
      const list = all.filter((group) => point.sizes[group] > 0).concat(point.outside ? [-1] : []);
      if (p === 0) list.sort((a, b) => (a < 0) - (b < 0) || a - b);
      else {
        const rank = new Map(found[p - 1].map((group, k) => [group, k])), sum = {}, weight = {};
        for (const [a, b, size] of data.path.flows[p - 1]) if (rank.has(a)) { sum[b] = (sum[b] || 0) + size * rank.get(a); weight[b] = (weight[b] || 0) + size; }
        const mean = (group) => (weight[group] ? sum[group] / weight[group] : 1e9);
        list.sort((a, b) => (a < 0) - (b < 0) || mean(a) - mean(b) || a - b);
      }
      found.push(list);
    });
    return found;
  }
  function paint(group, p) {
    if (group < 0) return GREY;
    const point = points[p];
    if (mode === "confidence" && point.confidence && point.confidence[group] !== undefined) return shade(point.confidence[group], .3, 1);
    if (mode === "significance" && point.significance && point.significance[group] !== undefined) return shade(-point.significance[group], 0, 6);
    return mode === "group" ? color(group, p) : GREY;
  }
  function render() {
    svg = draw("svg", { viewBox: `0 0 ${wide} ${H}`, role: "img",
      "aria-label": `Consensus tree: ${points.length} points of the path, from ${points[0].groups} to ${points[points.length - 1].groups} groups` });
    if (wide > WIDE) svg.style.minWidth = wide * .75 + "px";
    data.path.flows.forEach((flow, p) => ribbons(flow, p));
    points.forEach((point, p) => {
      const lit = (group) => state.group === null || follow(state.group, state.point, p) === group;
      for (const group of order[p]) {
        const spot = spots[p][group];
        const rect = draw("rect", { class: "link", x: x(p), y: spot.y, width: bar, height: spot.height, fill: paint(group, p), opacity: lit(group) ? 1 : .25 });
        tipped(rect, () => described(group, p, spot));
        rect.addEventListener("click", () => goTo(p, group));
        svg.append(rect);
      }
      const label = draw("text", { x: x(p) + bar / 2, y: 14, "text-anchor": "middle", class: p === state.point ? "strong" : "", text: number(point.groups) });
      svg.append(label);
      if (point.chosen) svg.append(draw("text", { x: Math.min(wide - 32, Math.max(32, x(p) + bar / 2)), y: H - 8, "text-anchor": "middle", text: "▲ answer" }));
      if (p === state.point) svg.append(draw("rect", { class: "current", x: x(p) - 4, y: top - 6, width: bar + 8, height: height + 12, rx: 4 }));
    });
    place.replaceChildren(svg);
  }
  function ribbons(flow, p) {
    const from = {}, to = {}, left = ranks[p], right = ranks[p + 1], drawn = flow.filter((row) => left.has(row[0]) && right.has(row[1]));
    const rows = [...drawn].sort((a, b) => left.get(a[0]) - left.get(b[0]) || right.get(a[1]) - right.get(b[1]));
    const ends = [...drawn].sort((a, b) => right.get(a[1]) - right.get(b[1]) || left.get(a[0]) - left.get(b[0]));
    const landing = new Map();
    for (const row of ends) {
      const spot = spots[p + 1][row[1]];
      landing.set(row, spot.y + (to[row[1]] || 0) * spot.scale);
      to[row[1]] = (to[row[1]] || 0) + row[2];
    }
    for (const row of rows) {
      const [a, b, size] = row, spot = spots[p][a], y0 = spot.y + (from[a] || 0) * spot.scale, y1 = landing.get(row);
      from[a] = (from[a] || 0) + size;
      if (size < SMALLEST_FLOW * total) continue;
      const h0 = size * spot.scale, h1 = size * spots[p + 1][b].scale, x0 = x(p) + bar, x1 = x(p + 1), m = (x0 + x1) / 2;
      const lit = state.group === null || (follow(state.group, state.point, p) === a && follow(state.group, state.point, p + 1) === b);
      const d = `M${x0} ${y0}C${m} ${y0} ${m} ${y1} ${x1} ${y1}L${x1} ${y1 + h1}C${m} ${y1 + h1} ${m} ${y0 + h0} ${x0} ${y0 + h0}Z`;
      svg.append(tipped(draw("path", { d, fill: paint(b, p + 1), opacity: lit ? .38 : .1 }),
        [plural(size, "element"), `${groupName(a)} of ${points[p].groups} to ${groupName(b)} of ${points[p + 1].groups}`]));
    }
  }
  function described(group, p, spot) {
    const point = points[p], out = [`${groupName(group)} of ${plural(point.groups, "group")}`, plural(spot.size, "element")];
    if (group >= 0 && point.confidence && point.confidence[group] !== undefined) out.push("confidence " + number(point.confidence[group], 2));
    if (group >= 0 && point.chance && point.chance[group] !== undefined) out.push("chance " + point.chance[group]);
    return out;
  }
  at("tree-color").addEventListener("change", (event) => { mode = event.target.value; at("tree-scale").textContent = SCALES[mode]; render(); });
  shows(render, place);
  savable(place.parentElement, "tree", () => svg);
}
const SCALES = {
  group: "", confidence: "Dark is confident (1), light is not (0.3 or less).",
  significance: "Dark is hardly chance (1 in a million), light may well be; grey was not tested.",
};
// From light to dark, on light and on dark ground.
function shade(value, low, high) {
  const t = Math.max(0, Math.min(1, (value - low) / (high - low))), a = [214, 226, 238], b = [8, 64, 122];
  const dark = rgb(variable("--bg"))[0] < 128, [from, to] = dark ? [[52, 66, 84], [140, 200, 255]] : [a, b];
  return "#" + from.map((v, k) => Math.round(v + t * (to[k] - v)).toString(16).padStart(2, "0")).join("");
}
