// Puts the pieces on the page.
const MOST_CHIPS = 40, MOST_BARS = 20;

function chips() {
  let point = -1, buttons = [];
  shows(() => {
    if (point !== state.point) {
      const count = here().groups, shownGroups = [...Array(Math.min(MOST_CHIPS, count)).keys()].concat(here().outside ? [-1] : []);
      buttons = shownGroups.map((group) => make("button", { type: "button", "data-group": group, onclick: () => select(group) }, swatch(group), groupName(group)));
      at("chips").replaceChildren(...buttons);
      if (count > MOST_CHIPS) at("chips").append(make("span", { class: "note", text: `and ${number(count - MOST_CHIPS)} more in the table` }));
      point = state.point;
    }
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(state.group === Number(button.dataset.group))));
  });
}
function tiles() {
  const all = data.elements.ids.length === data.elements.total;
  const first = Object.fromEntries([...document.querySelectorAll("[data-tile]")].map((node) => [node.dataset.tile, node.textContent]));
  shows(() => {
    const point = here(), set = (name, value) => { const node = document.querySelector(`[data-tile="${name}"]`); if (node) node.textContent = point.chosen ? first[name] : value; };
    set("groups", number(point.groups));
    set("outside", number(point.outside));
    set("confidence", number(point.mean, 2));
    const labels = labelsAt(), sure = confidenceAt();
    set("doubtful", all ? number(labels.reduce((sum, group, i) => sum + (group >= 0 && sure[i] < .5), 0)) : "–");
    for (const score of data.scores) set("truth " + score.name, "–");
  });
}

function groupRows() {
  const point = here();
  return point.sizes.map((size, group) => ({
    group, size, confidence: point.confidence ? point.confidence[group] : null, chance: point.chance ? point.chance[group] : "–",
    significance: point.significance ? point.significance[group] : null, candidates: point.candidates[group], sources: point.sources[group],
    backing: point.backing[group], stability: point.stability[group], gain: point.gains[group], extra: point.chosen ? data.extra.rows[group] || [] : [],
  }));
}
function groupsTable() {
  const sample = data.extra.rows[0] || [];
  const extra = data.extra.names.map((title, k) => ({
    title, help: "Given with the result; of the answer only", digits: typeof sample[k] === "number" ? 3 : undefined, key: (row) => row.extra[k],
    wide: data.extra.rows.some((row) => String(row[k]).length > 24),
    text: (row) => (row.extra[k] === undefined ? "–" : typeof row.extra[k] === "number" ? number(row.extra[k]) : String(row.extra[k])),
  }));
  const sure = data.overlap ? [] : [{ title: "Confidence", text: (row) => number(row.confidence, 2), key: (row) => row.confidence, digits: 2, help: "Mean probability that its elements would be found in this group again with new sources" }];
  const detail = [
    { title: "Sources", text: (row) => number(row.sources), key: (row) => row.sources, digits: 0, help: "Distinct sources behind the group" },
    { title: data.kind === "models" ? "Hypotheses" : "Candidates", text: (row) => number(row.candidates), key: (row) => row.candidates, digits: 0, help: "How many stand behind the group" },
    { title: "Backing", text: (row) => number(row.backing, 2), key: (row) => row.backing, digits: 2, help: "Share of the candidates behind the group that hold an element of it, on average" },
    { title: "Stability", text: (row) => number(row.stability, 2), key: (row) => row.stability, digits: 2, help: "How well the group is found again in each source: the best overlap (Jaccard index), averaged over the sources" },
    { title: "Gain", text: (row) => number(row.gain, 1), key: (row) => row.gain, digits: 1, help: "Votes for the group beyond the quorum; groups are numbered by it" },
  ];
  table(at("groups").querySelector(".table"), [
    { title: "Group", text: (row) => groupName(row.group), key: (row) => row.group, group: true },
    { title: "Elements", text: (row) => number(row.size), key: (row) => row.size, digits: 0, help: "Elements of the group, all of them counted" },
    ...sure,
    { title: "Chance", text: (row) => row.chance, key: (row) => row.significance, digits: 1, help: "How often a group like this would appear if there were no groups" },
    ...extra,
    ...(data.hypotheses ? detail.filter((column) => !["Stability", "Sources", ...(data.view && data.view.residuals ? ["Gain"] : [])].includes(column.title)) : detail),
  ], groupRows, { what: "groups", caption: "Groups of the point on screen", groupOf: (row) => row.group, pick: true, page: 20 });
  if (here().groups > here().sizes.length) at("groups-more").textContent = `The first ${number(here().sizes.length)} groups are listed.`;
}

function elements() {
  const bins = 20, edges = [...Array(bins + 1).keys()].map((k) => k / bins), values = () => (data.overlap ? backingAt() : confidenceAt());
  const what = data.overlap ? "Backing" : "Confidence";
  histogram(at("histogram"), edges, () => {
    const labels = labelsAt(), sure = values(), layers = Array.from({ length: here().groups }, () => new Array(bins).fill(0));
    for (const i of evenElements) if (labels[i] >= 0) layers[labels[i]][Math.min(bins - 1, Math.floor(sure[i] * bins))]++;
    return layers;
  }, { label: `Histogram of ${what.toLowerCase()} by group`, name: what.toLowerCase(), axis: what.toLowerCase() });
  at("histogram").parentElement.hidden = points.every((point) => point.groups === 0);
  at("histogram-note").textContent = `${what} of the elements, coloured by group` + (evenElements.length < data.elements.total ? `; ${number(evenElements.length)} elements at even distances.` : ".");
  at("elements-note").textContent = data.elements.note;
  const outsideFirst = (row) => (row.group < 0 ? -1 : row.sure);
  table(at("elements").querySelector(".table"), [
    { title: "Element", text: (row) => row.id, open: (row) => openElement(row.index) },
    { title: "Group", text: (row) => groupName(row.group), key: (row) => row.group, group: true },
    { title: what, text: (row) => (row.group < 0 ? "–" : number(row.sure, 2)), key: outsideFirst, digits: 2,
      help: data.overlap ? "Share of the candidates behind its group that hold it" : "Probability that it would be found in this group again with new sources" },
    ...(data.overlap ? [] : [
      { title: "Nearest other", text: (row) => (row.other < 0 ? "–" : groupName(row.other)), key: (row) => row.other, help: "The group that it would join next" },
      { title: "Backing", text: (row) => (row.group < 0 ? "–" : number(row.backing, 2)), key: (row) => row.backing, digits: 2, help: "Share of the candidates behind its group that hold it" },
    ]),
  ], () => {
    const labels = labelsAt(), sure = values(), others = othersAt(), backing = backingAt();
    return data.elements.ids.map((id, index) => ({ id, index, group: labels[index], sure: sure[index], other: others[index], backing: backing[index] }));
  }, { what: "elements", groupOf: (row) => row.group, filter: true, follow: true, sort: 2, page: 15 });
}

function sources() {
  const rows = data.sources, named = rows.filter((row) => row.candidates > 0);
  if (data.kind === "models") {
    at("sources-bars").hidden = true;
    return;
  }
  if (data.hypotheses) {
    at("sources-note").textContent = `Every candidate is a source of its own here: ${number(data.sourcesTotal)} hypotheses, `
      + `${number(rows.filter((row) => row.used).length)} of ${rows.length < data.sourcesTotal ? "the first " + number(rows.length) : "them"} behind a group.`;
    at("sources-bars").hidden = true;
  } else {
    at("sources-note").textContent = "Agreement with the answer does not make a source good: look at what it says alone and what it decides. Choose a source to see what is measured.";
    const ranked = named.slice(0, MOST_BARS), names = named.map((row) => row.name), twice = new Set(names.filter((name, k) => names.indexOf(name) !== k));
    const told = (row) => { const settings = (row.params || "").replace(/(, )?seed=.*/, ""); return row.name + (twice.has(row.name) && settings ? ", " + settings : ""); };
    bars(at("bars"), ranked.map((row) => ({ name: told(row), value: row.nmi, color: COLORS[0], click: () => openSource(row),
      lines: [row.name, "agreement with the answer " + number(row.nmi, 3), `${row.used} of ${row.candidates} candidates used`] })),
      { top: 1, digits: 3, label: "How alike each base result is to the consensus", name: "agreement" });
    at("bars-note").textContent = "Normalised mutual information of each base result with the answer; elements in no group are one class."
      + (named.length > ranked.length ? ` The first ${ranked.length} of ${number(data.sourcesTotal)} sources are drawn.` : "");
  }
  if (data.comparedOn && data.comparedOn < data.elements.total) at("sources-note").textContent += ` Sources are compared on ${number(data.comparedOn)} elements.`;
  const compared = rows.some((row) => row.others !== null);
  table(at("sources").querySelector(".table"), [
    { title: "Source", text: (row) => row.name, open: openSource, wide: true },
    ...(rows.some((row) => row.params) ? [{ title: "Parameters", text: (row) => row.params, wide: true }] : []),
    { title: "Candidates", text: (row) => number(row.candidates), key: (row) => row.candidates, digits: 0, help: "Groups that it made" },
    { title: "Used", text: (row) => number(row.used), key: (row) => row.used, digits: 0, help: "Candidates that stand behind a group of the answer" },
    { title: "With the answer", text: (row) => number(row.nmi, 3), key: (row) => row.nmi, digits: 3, help: "Normalised mutual information with the consensus" },
    ...(compared ? [
      { title: "With the others", text: (row) => number(row.others, 3), key: (row) => row.others, digits: 3, help: "Adjusted Rand index with the other sources, on average" },
      { title: "Alone", text: (row) => number(row.alone), key: (row) => row.alone, digits: 0, help: "Candidates that no other source has, not even by half" },
      { title: "Decides", text: (row) => (row.decided === null ? "–" : number(100 * row.decided, 1) + "%"), key: (row) => row.decided, digits: 1, help: "Elements that would have most votes in another group without it" },
    ] : []),
    ...(data.hypotheses ? [] : data.scores).map((score, k) => ({ title: score.name, help: score.name + " of the source with the truth", text: (row) => number(row.scores[k], 3), key: (row) => row.scores[k], digits: 3 })),
    ...(rows.some((row) => row.remark) ? [{ title: "Remark", text: (row) => row.remark, wide: true }] : []),
  ], () => rows, { what: "sources", page: 15 });
}

// A range with some room, so that the highest and lowest dots are seen whole.
function bounds(values) {
  const finite = values.filter((value) => value !== null), low = Math.min(...finite), high = Math.max(...finite), room = .08 * (high - low || 1);
  return [low - room, high + room];
}
function choice() {
  if (points.length < 2) { at("choice").hidden = true; return; }
  const place = at("choice-chart"), told = points.some((point) => point.evidence !== null);
  const value = (point) => (told ? point.evidence : point.score), name = told ? "evidence of the data" : "score of the pool";
  const xs = [...points.keys()], marks = lines(place, [{ name, color: COLORS[0], x: xs, y: points.map(value),
    dots: (k) => [plural(points[k].groups, "group"), quorumText(points[k]), name + " " + number(value(points[k])), ...(points[k].chosen ? ["the answer"] : [])] }],
    { label: `${name} at every point of the path`, ticks: xs.filter((k) => points.length < 25 || k % 2 === 0), tickText: (k) => String(points[k].groups), y: bounds(points.map(value)), xName: "number of groups, from coarse to fine", yName: name, pick: (k) => goTo(k), name: "choice" });
  shows(() => marks.forEach(([dot, k]) => { dot.setAttribute("r", k === state.point ? 8 : 4); dot.setAttribute("fill", points[k].chosen ? COLORS[3] : COLORS[0]); }));
  const other = data.alternatives.map((one) => `${one.n_groups} groups (${one.origin})`);
  at("choice-note").textContent = `Every dot is a point of the path; the answer is orange. The highest is not always the answer: ${told
    ? "how many sources back a grouping counts as well, and base results compete too." : "where a majority of the sources fits nearly as well, it is taken."}`
    + (other.length ? ` Next best: ${other.join(", ")}.` : "") + (data.smallest[0] ? ` A group needs ${data.smallest[0]} elements${data.smallest[1] ? ` and ${data.smallest[1]} sources` : ""}.` : "");
}

function view() {
  if (!data.view) return;
  at("view").hidden = false;
  at("view-title").textContent = data.view.title;
  at("view-note").textContent = data.view.note;
  at("view-canvas").setAttribute("aria-label", data.view.title + ". " + data.view.note);
  dots(at("view-canvas"), data.view);
  if (data.view.residuals) {
    at("residuals").hidden = false;
    histogram(at("residuals").querySelector(".chart"), data.view.residuals.edges, () => [data.view.residuals.counts],
      { plain: true, limit: data.view.residuals.threshold, label: "Histogram of residuals", name: "residuals", axis: "distance" });
  }
}

function matrices() {
  matrix(at("before"), false, "matrix-before");
  matrix(at("after"), true, "matrix-after");
  const drawn = matrixRows().length;
  at("matrix-note").textContent = drawn < data.elements.total ? `A sample of ${number(drawn)} elements; a cell is the mean of several, drawn darker than it is.` : "";
}

slider();
pointNote();
tiles();
chips();
view();
sections.push(() => tree(at("tree-chart")), groupsTable, elements, details, matrices, cooccurrence, sources, choice, exports_);
setTimeout(buildNext);
addEventListener("keydown", (event) => { if (event.key === "Escape" && state.group !== null) select(state.group); });
at("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  refresh();
});
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => { refresh(); settle(); });
