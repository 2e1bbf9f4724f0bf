// One element, one source, one group: what is known of each.
const shown = { element: null, source: null };

function openElement(i, jump = true) {
  shown.element = i;
  at("element").hidden = false;
  elementPage();
  if (jump) { at("element").scrollIntoView({ block: "start" }); at("element-title").focus({ preventScroll: true }); }
}
const row = (name, value, help) => make("tr", {}, make("th", { scope: "row", text: name, title: help || null }), make("td", {}, ...(Array.isArray(value) ? value : [String(value)])));

function elementPage() {
  const i = shown.element;
  if (i === null) return;
  const own = labelsAt()[i], other = othersAt()[i], behind = behindAt();
  at("element-title").textContent = "Element " + data.elements.ids[i];
  const lines = [row("Group", own < 0 ? "in no group" : [swatch(own), " " + groupName(own)])];
  if (!data.overlap) {
    if (own >= 0) lines.push(row("Confidence", number(confidenceAt()[i], 2), "Probability that it would be found in this group again with new sources"));
    lines.push(row(own < 0 ? "Nearest group" : "Nearest other group", other < 0 ? "none: no candidate that holds it is like another group"
      : [swatch(other), ` ${groupName(other)}, where its confidence would be ${number(thereAt()[i], 2)}`]));
  }
  if (own >= 0) lines.push(row("Backing", number(backingAt()[i], 2) + " of the candidates behind its group hold it"));
  if (own < 0) lines.push(row("Why in no group", data.kind === "models" ? "it is not near enough to any model" : whyOutside(i)));
  if (points.length > 1) lines.push(row("Along the path", points.map((point, p) => make("span", { class: "step" + (p === state.point ? " now" : ""), title: `${point.groups} groups: ${groupName(labelsAt(p)[i])}` }, swatch(labelsAt(p)[i], p)))));
  at("element-votes").hidden = data.kind === "models";
  if (data.kind === "models" && known[i]) {
    const counts = new Map();
    for (const j of heldLists[rowOf[i]]) if (behind[j] >= 0) counts.set(behind[j], (counts.get(behind[j]) || 0) + 1);
    const parts = [...counts].sort((a, b) => b[1] - a[1]).map(([group, count]) => make("div", {}, swatch(group), ` ${number(count)} of the ${number(here().candidates[group])} behind ${groupName(group)}`));
    lines.push(row("Hypotheses that hold it", parts.length ? parts : "none"));
  }
  at("element-facts").replaceChildren(...lines);
  at("element-sources").replaceChildren(...(known[i] ? votes(i, behind) : [make("tr", {}, make("td", { colspan: 4, text: "The candidates of this element are not on the page: they did not fit." }))]));
}
function whyOutside(i) {
  if (!known[i]) return "not known on this page";
  const held = Array.from(heldLists[rowOf[i]]);
  if (!held.length) return "no source put it in any candidate";
  const behind = behindAt(), groups = held.map((j) => behind[j]).filter((group) => group >= 0);
  if (!groups.length) return `it is in ${plural(held.length, "candidate")}, but none of them stands behind a group`;
  const counts = new Map();
  groups.forEach((group) => counts.set(group, (counts.get(group) || 0) + 1));
  const [best, votes_] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return `the candidates that hold it are spread: the most, ${votes_} of ${plural(here().candidates[best] || 0, "candidate")}, are behind ${groupName(best)}, which is below the quorum`;
}
function votes(i, behind) {
  const held = Array.from(heldLists[rowOf[i]]), hidden = unseenLists ? new Set(unseenLists[rowOf[i]]) : new Set(), own = labelsAt()[i];
  const bySource = new Map();
  held.forEach((j) => bySource.set(candidateSource[j], [...(bySource.get(candidateSource[j]) || []), j]));
  const sources = data.hypotheses ? [...bySource.keys()] : [...Array(data.sourcesTotal).keys()].slice(0, 400);
  return sources.map((s) => {
    const list = bySource.get(s) || [], said = list.length ? list.map(candidateName).join(", ") : hidden.has(viewOfSource[s]) ? "did not see it" : "put it in no candidate";
    const group = list.length ? behind[list[0]] : null;
    const verdict = group === null ? "" : group < 0 ? "behind no group" : group === own ? "for its group" : "for another group";
    return make("tr", {}, make("td", { text: sourceName(s) }), make("td", { text: said }), make("td", { class: "number", text: list.length ? number(candidateSize[list[0]]) : "–" }),
      make("td", {}, ...(group === null ? [""] : [swatch(group), " " + groupName(group) + (verdict === "for its group" ? " ✓" : "")])));
  });
}

function openSource(source) {
  shown.source = source;
  at("source").hidden = false;
  sourcePage();
  at("source").scrollIntoView({ block: "start" });
  at("source-title").focus({ preventScroll: true });
}
function sourcePage() {
  const source = shown.source;
  if (!source) return;
  at("source-title").textContent = "Source " + source.name;
  const names = (list) => list.slice(0, 5).map(sourceName).join(", ") + (list.length > 5 ? ` and ${list.length - 5} more` : "");
  const lines = [
    row("Parameters", source.params || "–"),
    row("Candidates", `${number(source.candidates)}, of which ${number(source.used)} stand behind a group of the answer`),
    row("Agreement with the answer", `${number(source.nmi, 3)} (normalised mutual information; 1 is the same grouping)`),
  ];
  if (source.others !== null) lines.push(
    row("Agreement with the other sources", `${number(source.others, 3)} on average (adjusted Rand index; 0 is chance)`),
    row("Most alike", source.likest === null ? "–" : `${sourceName(source.likest)} (${number(source.likestAgreement, 3)})`),
    row("Redundant", source.redundant.length ? `says nearly the same as ${names(source.redundant)}; weights="shared" would give them one vote` : "no: no other source says the same (index 0.95) or is a run of the same setting"),
    row("Says alone", `${plural(source.alone, "candidate")} of ${number(source.candidates)} that no other source has (less than half of the elements in common)`),
    row("Decides", `${number(100 * source.decided, 1)}% of the elements: without its vote they would have most votes in another group. Groups are not searched again for this.`));
  if (source.remark) lines.push(row("Remark", source.remark));
  at("source-facts").replaceChildren(...lines);
  const own = [...candidateSource.keys()].filter((j) => candidateSource[j] === source.index).slice(0, 200), behind = behindAt(), labels = labelsAt();
  const counts = new Map(own.map((j) => [j, new Map()]));
  for (const i of evenElements) if (known[i]) for (const j of heldLists[rowOf[i]]) if (counts.has(j)) counts.get(j).set(labels[i], (counts.get(j).get(labels[i]) || 0) + 1);
  at("source-candidates").replaceChildren(...own.map((j) => {
    const parts = [...counts.get(j)].sort((a, b) => b[1] - a[1]), sum = parts.reduce((total, part) => total + part[1], 0) || 1;
    const stack = draw("svg", { viewBox: "0 0 200 14", class: "stack", role: "img", "aria-label": parts.slice(0, 4).map(([group, n]) => `${groupName(group)} ${Math.round(100 * n / sum)}%`).join(", ") || "no elements" });
    let x = 0;
    for (const [group, n] of parts) { stack.append(tipped(draw("rect", { x, y: 0, width: 200 * n / sum, height: 14, fill: color(group) }), [groupName(group), number(100 * n / sum, 0) + "% of it"])); x += 200 * n / sum; }
    return make("tr", {}, make("td", { text: candidateName(j) }), make("td", { class: "number", text: number(candidateSize[j]) }),
      make("td", {}, ...(behind[j] < 0 ? ["none"] : [swatch(behind[j]), " " + groupName(behind[j])])), make("td", {}, stack));
  }));
}
function features() {
  const found = data.view && data.view.features;
  at("features").hidden = !found;
  if (!found) return;
  shows(() => {
    const groups = found.groups[state.point], wanted = state.group !== null && state.group >= 0 ? [state.group] : [...groups.keys()].slice(0, 12);
    at("features").hidden = !wanted.some((group) => (groups[group] || []).length);  // one group has no others
    at("features-table").replaceChildren(...wanted.flatMap((group) => (groups[group] || []).slice(0, state.group === null ? 3 : 6).map(([feature, apart, inside, outside], k) =>
      make("tr", { class: "link", onclick: () => select(group) }, make("td", {}, ...(k === 0 ? [swatch(group), " " + groupName(group)] : [])), make("td", { text: found.names[feature] }),
        make("td", { class: "number", text: (apart > 0 ? "+" : "") + number(apart, 2) }), make("td", { class: "number", text: number(inside) }), make("td", { class: "number", text: number(outside) })))));
  }, at("view"));
}
function details() {
  at("close-element").addEventListener("click", () => { shown.element = null; at("element").hidden = true; });
  at("close-source").addEventListener("click", () => { shown.source = null; at("source").hidden = true; });
  shows(elementPage, at("element"));
  shows(sourcePage, at("source"));
  features();
}
