// Puts the pieces on the page.
const MOST_CHIPS = 40;

function chips() {
  const shown = data.groups.slice(0, MOST_CHIPS).map((_, group) => group).concat(data.summary.outliers ? [-1] : []);
  const buttons = shown.map((group) => make("button", { type: "button", "data-group": group, "aria-pressed": "false", onclick: () => select(group) },
    swatch(group), groupName(group)));
  at("chips").replaceChildren(...buttons);
  if (data.groups.length > MOST_CHIPS) at("chips").append(make("span", { class: "note", text: `and ${number(data.groups.length - MOST_CHIPS)} more in the table` }));
  state.redraw.push(() => buttons.forEach((button) => button.setAttribute("aria-pressed", String(state.group === Number(button.dataset.group)))));
}

function groupsTable() {
  const rows = data.groups.map((group, number_) => ({ group: number_, ...group }));
  table(at("groups").querySelector(".table"), [
    { title: "Group", text: (row) => groupName(row.group), key: (row) => row.group, group: true },
    { title: "Elements", text: (row) => number(row.size), key: (row) => row.size, digits: 0 },
    { title: "Candidates", text: (row) => number(row.candidates), key: (row) => row.candidates, digits: 0, help: "Candidates behind the group" },
    { title: "Sources", text: (row) => number(row.sources), key: (row) => row.sources, digits: 0, help: "Distinct sources behind the group" },
    { title: "Chance", text: (row) => row.chance, key: (row) => row.significance, digits: 1 },
    { title: "Gain", text: (row) => number(row.gain, 1), key: (row) => row.gain, digits: 1 },
    { title: "Mean backing", text: (row) => number(row.backing, 3), key: (row) => row.backing, digits: 3 },
    { title: "Stability", text: (row) => number(row.stability, 3), key: (row) => row.stability, digits: 3 },
    ...data.extra.map((column, k) => ({ title: column, text: (row) => typeof row.extra[k] === "number" ? number(row.extra[k]) : String(row.extra[k]), key: (row) => row.extra[k], digits: typeof (rows[0] || { extra: [] }).extra[k] === "number" ? 3 : undefined })),
  ], rows, { what: "groups", groupOf: (row) => row.group, groups: [], pick: true, page: 20 });
  at("groups").querySelector("select").remove();
}

function elements() {
  histogram(at("histogram"), data.histogram.edges, data.histogram.counts, { label: "Histogram of backing by group" });
  const rows = data.elements.ids.map((id, k) => ({ id, group: data.elements.labels[k], backing: data.elements.backing[k] }));
  at("elements-note").textContent = data.elements.note;
  const present = [...new Set(data.elements.labels)].sort((a, b) => (a < 0) - (b < 0) || a - b);
  table(at("elements").querySelector(".table"), [
    { title: "Element", text: (row) => row.id },
    { title: "Group", text: (row) => groupName(row.group), key: (row) => row.group, group: true },
    { title: "Backing", text: (row) => row.group < 0 ? "–" : number(row.backing, 3), key: (row) => row.group < 0 ? 2 : row.backing, digits: 3 },
  ], rows, { what: "elements", groupOf: (row) => row.group, groups: present, follow: true, sort: 2, page: 15 });
}

function sources() {
  const scored = data.scores.length > 0, shown = data.sources.filter((row) => row.bar);
  at("bars-note").textContent = data.barsNote;
  shown.sort((a, b) => (b.nmi || 0) - (a.nmi || 0));
  bars(at("bars"), shown.map((row) => ({ name: row.name, value: row.nmi, color: COLORS[0], lines: [row.name, "NMI with the consensus " + number(row.nmi, 3), `${row.used} of ${row.candidates} candidates used`] })), { top: 1, digits: 3, label: "How alike each base result is to the consensus" });
  data.scores.forEach((score, k) => {
    at("bars").append(make("p", { class: "note", text: `Against the truth: ${score.name}. The consensus has ${number(score.consensus, 3)} (dashed); base results:` }));
    const ranked = [...shown].sort((a, b) => b.scores[k] - a.scores[k]);
    bars(at("bars"), [{ name: "consensus", value: score.consensus, color: COLORS[1], lines: ["consensus", number(score.consensus, 3)] },
      ...ranked.map((row) => ({ name: row.name, value: row.scores[k], color: GREY, lines: [row.name, score.name + " " + number(row.scores[k], 3)] }))],
      { top: 1, digits: 3, limit: score.consensus, label: "Score against the truth: " + score.name });
  });
  table(at("sources").querySelector(".table"), [
    { title: "Source", text: (row) => row.name }, { title: "Parameters", text: (row) => row.params },
    { title: "Candidates", text: (row) => number(row.candidates), key: (row) => row.candidates, digits: 0 },
    { title: "Used", text: (row) => number(row.used), key: (row) => row.used, digits: 0, help: "Candidates that stand behind a group" },
    { title: "NMI", text: (row) => number(row.nmi, 3), key: (row) => row.nmi, digits: 3, help: "Normalised mutual information with the consensus" },
    ...(scored ? data.scores.map((score, k) => ({ title: score.name + " with truth", text: (row) => number(row.scores[k], 3), key: (row) => row.scores[k], digits: 3 })) : []),
    { title: "Remark", text: (row) => row.remark },
  ], data.sources, { what: "sources", page: 15 });
}

function path() {
  const place = at("path").querySelector(".chart"), rows = data.path.rows;
  at("path-note").textContent = data.path.note;
  const draw_ = (key, title, limit) => {
    place.append(make("p", { class: "note", text: title }));
    bars(place, rows.map((row) => ({ name: row.name, value: row[key], color: color(row.group), lines: [row.name, number(row.elements) + " elements", number(row.sources) + " sources"] })),
      { limit, digits: 0, label: title });
  };
  draw_("elements", "Elements of each bi-cluster, in the order of gain; the dashed line is the minimum.", data.path.minElements);
  draw_("sources", "Sources behind it; the dashed line is the minimum.", data.path.minCandidates);
}

function view() {
  if (!data.view) return;
  at("view").hidden = false;
  at("view-title").textContent = data.view.title;
  at("view-note").textContent = data.view.note;
  at("view-canvas").setAttribute("aria-label", data.view.title + ". " + data.view.note);
  data.view.order = data.view.groups.map((_, k) => k).sort((a, b) => (data.view.groups[a] >= 0) - (data.view.groups[b] >= 0) || a - b);
  dots(at("view-canvas"), data.view);
  if (data.view.residuals) {
    at("residuals").hidden = false;
    histogram(at("residuals").querySelector(".chart"), data.view.residuals.edges, [data.view.residuals.counts], { plain: true, limit: data.view.residuals.threshold, label: "Histogram of residuals" });
  }
}

chips();
view();
matrix(at("before"), data.matrix.before);
matrix(at("after"), data.matrix.after);
at("matrix-note").textContent = data.matrix.note;
groupsTable();
elements();
sources();
path();
addEventListener("keydown", (event) => { if (event.key === "Escape" && state.group !== null) select(state.group); });
at("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  state.redraw.forEach((redraw) => redraw());
});
for (const media of ["(prefers-color-scheme: dark)", "print"]) matchMedia(media).addEventListener("change", () => state.redraw.forEach((redraw) => redraw()));
document.body.dataset.ready = "yes";
