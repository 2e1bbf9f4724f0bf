// The point of the path on screen: labels, colours, and moving from one point to another.
const points = data.path.points;
const kept = {};
function ofPoint(name, read, p) {
  const key = name + p;
  if (!kept[key]) kept[key] = read(data.path[name][p]);
  return kept[key];
}
const here = () => points[state.point];
const labelsAt = (p = state.point) => ofPoint("labels", unpackGroups, p);
const othersAt = (p = state.point) => ofPoint("others", unpackGroups, p);
const confidenceAt = (p = state.point) => ofPoint("confidence", unpackShares, p);
const thereAt = (p = state.point) => ofPoint("there", unpackShares, p);
const backingAt = (p = state.point) => ofPoint("backing", unpackShares, p);
function behindAt(p = state.point) {
  if (!kept["behind" + p]) kept["behind" + p] = unpackGroups(points[p].behind);
  return kept["behind" + p];
}

const even = unpack(data.elements.even);
const evenElements = [...even.keys()].filter((i) => even[i]);
const known = data.elements.known ? unpack(data.elements.known) : new Uint8Array(even.length).fill(1);
const heldLists = lists(data.elements.heldCounts, data.elements.held);
const heldValues = data.elements.values ? lists(data.elements.heldCounts, data.elements.values) : null;
const unseenLists = data.elements.unseen ? lists(data.elements.unseenCounts, data.elements.unseen) : null;
const rowOf = new Int32Array(even.length).fill(-1);
for (let i = 0, next = 0; i < even.length; i++) if (known[i]) rowOf[i] = next++;
const candidateSource = unpack(data.candidates.source), candidateSize = unpack(data.candidates.sizes);
const viewOfSource = unpack(data.candidates.viewOfSource);
const candidateName = (j) => (data.candidates.names ? data.candidates.names[j] : "candidate " + j);
const sourceName = (s) => data.candidates.sourceNames[s];

// Groups keep the colour of the group that they share most with, so that a split is seen as a split.
const colorNumber = (group, p = state.point) => (points[p].colors[group] === undefined ? group : points[p].colors[group]);
const color = (group, p = state.point) => (group < 0 ? GREY : COLORS[colorNumber(group, p) % COLORS.length]);
const faded = (group) => state.group !== null && state.group !== group;

// The same shapes in the tables as in the pictures: they change when the colours start again.
function shapePath(context, group, x, y, r, p = state.point) {
  const shape = group < 0 ? 0 : Math.floor(colorNumber(group, p) / COLORS.length) % 4;
  context.beginPath();
  if (shape === 0) context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === 1) context.rect(x - r, y - r, 2 * r, 2 * r);
  else if (shape === 2) {
    context.moveTo(x, y - 1.3 * r); context.lineTo(x + 1.2 * r, y + r); context.lineTo(x - 1.2 * r, y + r); context.closePath();
  } else {
    context.moveTo(x, y - 1.4 * r); context.lineTo(x + 1.4 * r, y); context.lineTo(x, y + 1.4 * r); context.lineTo(x - 1.4 * r, y);
    context.closePath();
  }
}
function swatch(group, p = state.point) {
  const canvas = make("canvas", { class: "swatch", width: 26, height: 26, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  context.fillStyle = color(group, p);
  shapePath(context, group, 13, 13, group < 0 ? 6 : 9, p);
  context.fill();
  return canvas;
}

function select(group) {
  state.group = group === state.group ? null : group;
  document.body.dataset.group = state.group === null ? "" : String(state.group);
  refresh();
}
// The selected group is followed to the group that holds most of it at the new point.
function follow(group, from, to) {
  const step = to > from ? 1 : -1;
  for (let p = from; p !== to && group !== null && group >= 0; p += step) {
    let best = null, most = 0;
    for (const [a, b, size] of data.path.flows[Math.min(p, p + step)]) {
      const [own, next] = step > 0 ? [a, b] : [b, a];
      if (own === group && size > most) { most = size; best = next; }
    }
    group = best;
  }
  return group;
}
function goTo(point, group) {
  point = Math.max(0, Math.min(points.length - 1, point));
  state.group = group === undefined ? follow(state.group, state.point, point) : group;
  state.point = point;
  document.body.dataset.point = String(point);
  document.body.dataset.group = state.group === null ? "" : String(state.group);
  refresh();
}
const threeDigits = (value) => String(Number(value.toPrecision(3)));
// The quorum that the summary tells, and where else the path has these groups: an answer need not be a point of it.
function quorumText(point) {
  const own = "quorum " + threeDigits(point.quorum), [low, high] = point.quorums;
  const there = low === high ? "quorum " + threeDigits(low) : "quorums " + threeDigits(low) + " to " + threeDigits(high);
  if (there === own) return own;
  const inside = low <= point.quorum && point.quorum <= high;
  return own + (inside ? " (the same groups at " : " (on the path, the same groups stand at ") + there + ")";
}

function slider() {
  const range = at("slider"), choice = at("number"), numbers = [...new Set(points.map((point) => point.groups))].sort((a, b) => a - b);
  at("path-controls").hidden = points.length < 2;
  at("path-none").hidden = points.length > 1;
  if (points.length < 2) return;
  range.max = points.length - 1;
  range.addEventListener("input", () => goTo(Number(range.value)));
  choice.append(...numbers.map((n) => make("option", { value: n, text: n })));
  choice.addEventListener("change", () => {
    const fit = [...points.keys()].filter((p) => points[p].groups === Number(choice.value));
    goTo(fit.find((p) => points[p].chosen) ?? fit.reduce((a, b) => (points[b].score > points[a].score ? b : a)));
  });
  at("fewer").addEventListener("click", () => goTo(state.point - 1));
  at("more").addEventListener("click", () => goTo(state.point + 1));
  at("answer").addEventListener("click", () => goTo(data.path.start));
  const marks = points.map((point, p) => {
    const share = p / (points.length - 1), last = share > .8;
    const node = make("span", { class: "mark" + (point.chosen ? " answer" : "") + (last ? " last" : ""), text: !point.chosen ? "" : last ? "answer ▲" : "▲ answer" });
    node.style.left = `calc(${share} * (100% - 16px) + 8px)`;
    return node;
  });
  at("marks").append(...marks);
  shows(() => {
    const point = here();
    range.value = state.point;
    range.setAttribute("aria-valuetext", plural(point.groups, "group") + ", " + quorumText(point) + (point.chosen ? ", the answer" : ""));
    choice.value = point.groups;
    at("fewer").disabled = state.point === 0;
    at("more").disabled = state.point === points.length - 1;
    at("answer").disabled = point.chosen;
  });
}
function pointNote() {
  shows(() => {
    const point = here(), parts = [point.chosen ? "The answer: " : "Another point of the path: "];
    const fitted = data.kind === "models", noun = fitted ? "model" : "group";
    parts.push(plural(point.groups, noun), fitted ? "" : ", " + quorumText(point), point.outside ? "; " + plural(point.outside, "element") + " in no group. " : ". ", point.means);
    const sure = point.significance ? point.significance.filter((value) => value <= Math.log10(.05)).length : null;
    if (sure === 0 && point.groups && point.evidence > 0) parts.push(" No group is beyond chance by itself (below 0.05): the data speaks for the groups together.");
    else if (sure !== null && point.groups && (point.groups > 1 || sure)) parts.push(` ${sure} of ${plural(point.significance.length, noun)} would hardly appear by chance (below 0.05).`);
    at("point-note").textContent = parts.join("");
    document.body.dataset.point = String(state.point);
  });
}
