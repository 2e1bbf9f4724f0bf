"use strict";
// The page holds no answer of its own: it shows what the server says and tells it what was chosen.
// Text goes into the page only through textContent and attributes, never as HTML.
const COLORS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#882255", "#999933"], GREY = "#8A8A8A";
const at = (id) => document.getElementById(id);
const color = (group) => (group < 0 ? GREY : COLORS[group % COLORS.length]);
const groupName = (group) => (group < 0 ? "no group" : "group " + group);
const number = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en", { maximumFractionDigits: 3 }));
const share = (value) => (value === null || value === undefined ? "–" : Number(value).toFixed(2));
let state = null;      // what the server said last
let details = null;    // what it said of the last answer, which takes a moment longer
let sheet = { group: "", text: "", page: 0 };
let chosen = new Map(); // elements that are ticked: number to name
let asked = null;      // the question on the page
let shownAnswer = -1, waiting = null, sending = null, pending = {}, reportTimer = null;
let queue = Promise.resolve(); // the change that was made last, when it has been answered
let changes = 0;       // sent so far: a state that was asked for before the last of them is old

const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function dot(group) {
  const node = make("span", { class: "dot", "aria-hidden": "true" });
  node.style.background = color(group);
  return node;
}

const narrow = () => matchMedia("(max-width: 52rem)").matches;

function say(text) { at("error").hidden = !text; at("error").textContent = text || ""; }

async function ask(path, body, headers) {
  const options = body === undefined ? {} : { method: "POST", body: headers ? body : JSON.stringify(body), headers: headers || { "Content-Type": "application/json" } };
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Error("The server does not answer; it may have been closed. Saved sessions are safe."); }
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error);
  return told;
}

async function send(path, body, headers) {
  changes += 1;
  try { show(await ask(path, body, headers)); say(state.status === "failed" ? state.error : ""); return true; }
  catch (error) { say(error.message); return false; }
}

// One after the other, in the order in which they were made: an answer is kept before the next change moves it.
function tell(path, body, headers) {
  changes += 1;
  queue = queue.then(() => send(path, body, headers));
  return queue;
}

// Changes that come quickly are sent as one: the last value of each counts.
async function choose(patch) {
  Object.assign(pending, patch);
  Object.assign(state.choices, patch);
  if (sending) return;
  while (Object.keys(pending).length) {
    sending = pending;
    pending = {};
    const taken = await tell("choices", sending);
    sending = {};
    if (!taken) await refresh();
  }
  sending = null;
}

async function refresh() {
  waiting = null;
  const before = changes;
  try {
    const told = await ask("state");
    if (before === changes) { show(told); if (state.status === "failed") say(state.error); }
    else if (!waiting) waiting = setTimeout(refresh, 250);
  } catch (error) { say(error.message); }
}

function show(told) {
  if (state && told.version < state.version) return;
  state = told;
  if (state.choices) Object.assign(state.choices, sending, pending); // the next change builds on what the server does not know yet
  document.body.dataset.status = state.status;
  document.body.dataset.version = state.version;
  if (details && state.answer && details.number === state.answer.number) { state.confidence = details.confidence; state.alike = details.sources; }
  showStatus();
  if (state.input) { showInput(); showCut(); showSources(); showSizes(); showTies(); }
  showAnswer();
  showKept();
  showLines();
  const ready = state.status === "ready";
  for (const link of document.querySelectorAll("[data-export]")) {
    link.setAttribute("aria-disabled", String(!ready));
    if (ready) link.href = "export/" + link.dataset.export; else link.removeAttribute("href");
  }
  at("save").disabled = !ready; at("keep").disabled = !ready;
  for (const id of ["elements", "compare", "report"]) at(id).hidden = !state.answer;
  if (ready && shownAnswer !== state.answer.number) { shownAnswer = state.answer.number; showDetails(); showElements(); showReport(); showBoth(); showQuestion(); }
  for (const id of ["elements", "both", "frame", "groups"]) at(id).classList.toggle("stale", !ready);
  if (state.working && !waiting) waiting = setTimeout(refresh, 250);
  if (!state.working) document.body.dataset.ready = "";
  else delete document.body.dataset.ready;
}

function showStatus() {
  const { done, total, step } = state.progress, working = state.working;
  const texts = { empty: "Open a file to begin.", working: "Working", preview: "A first answer; the exact one follows", ready: working ? "The path is being traced" : "Exact answer", failed: "Stopped" };
  at("status-text").textContent = texts[state.status] + (working && step ? ": " + step + (total ? " " + done + " of " + total : " " + done) : "") + (working ? "…" : "");
  const bar = at("progress");
  bar.hidden = !working;
  if (total) { bar.max = total; bar.value = done; } else bar.removeAttribute("value");
  at("cancel").hidden = !working;
  const name = state.input ? state.input.name.split(/[\\/]/).pop() : "";
  at("title").textContent = name || "biconsensus explorer";
  document.title = (name ? name + " – " : "") + "biconsensus explorer";
}

function showInput() {
  const input = state.input;
  at("decided").textContent = input.decided + " " + number(input.elements) + " elements, " + number(input.candidates) + " groups in all sources.";
  at("notes").replaceChildren(...input.notes.map((note) => make("li", { text: note })));
  at("reading").hidden = !input.columns.length;
  at("drop-note").hidden = true;
  const key = JSON.stringify([input.columns, input.kind]);
  if (at("roles").dataset.key === key) return;
  at("roles").dataset.key = key;
  if (narrow()) at("card-input").open = false;
  if (input.kind === "groupings" || input.kind === "points") at("kind").value = input.kind;
  at("roles").replaceChildren(...input.columns.map((column) => {
    const select = make("select", { "aria-label": "Column " + (column.name || "without a name") });
    for (const [value, text] of [["used", input.kind === "points" ? "number" : "grouping"], ["id", "names of the elements"], ["truth", "truth, for scores"], ["left out", "left out"]]) select.append(make("option", { value, text, selected: value === column.role }));
    select.dataset.column = column.name;
    return make("tr", {}, make("th", { scope: "row", text: column.name || "(no name)" }), make("td", {}, select));
  }));
}

function showCut() {
  const { choices, path } = state;
  for (const radio of document.querySelectorAll("[name=mode]")) { radio.checked = radio.value === choices.mode; radio.disabled = radio.value !== "auto" && radio.value !== "given" && !path.length && state.status !== "preview"; }
  at("mode-given").hidden = !state.input.given;
  const slider = at("quorum"), steps = path.length ? path : null;
  slider.disabled = !steps;
  if (steps) {
    slider.max = steps.length - 1;
    const shown = choices.mode === "quorum" ? choices.quorum : state.answer ? state.answer.quorum : 0.5;
    // an answer that is no point of the path stands at the nearest point with as many groups, or nearly as many
    const groups = choices.mode === "quorum" || !state.answer ? null : state.answer.groups;
    const away = (step) => [groups === null ? 0 : Math.abs(step[1] - groups), Math.abs(Math.log(step[0] / shown))];
    const nearer = ([a, b], [c, d]) => a < c || (a === c && b < d);
    const place = steps.reduce((best, step, k) => (nearer(away(step), away(steps[best])) ? k : best), 0);
    if (document.activeElement !== slider || choices.mode !== "quorum") slider.value = place;
    showSteps(steps, Number(slider.value));
  }
  const input = at("n-groups");
  if (document.activeElement !== input) input.value = choices.mode === "n_groups" ? choices.n_groups : state.answer ? state.answer.groups : "";
}

function showSteps(steps, place) {
  const most = Math.max(...steps.map((step) => step[1]), 1), width = 240 / steps.length;
  const bars = steps.map((step, k) => {
    const height = Math.max(2, 42 * Math.sqrt(step[1] / most));
    return draw("rect", { x: k * width + 1, y: 44 - height, width: width - 2, height, class: k === place ? "on" : "" });
  });
  at("steps").replaceChildren(...bars);
  const [quorum, groups] = steps[place];
  const found = number(groups) + (groups === 1 ? " group" : " groups");
  const text = state.choices.mode === "quorum" ? "quorum " + quorum + ": " + found : "at quorum " + quorum + " there would be " + found;
  at("quorum-text").textContent = text;
  at("quorum").setAttribute("aria-valuetext", text);
}

function showSources() {
  const alike = new Map((state.alike || []).map((one) => [one.source, one]));
  const key = JSON.stringify([state.sources, [...alike]]);
  if (at("sources").dataset.key === key) return;
  at("sources").dataset.key = key;
  const focus = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.control : null;
  const names = state.sources.map((source) => source.name), twice = new Set(names.filter((name, k) => names.indexOf(name) !== k));
  at("sources").replaceChildren(...state.sources.map((source, k) => {
    const one = alike.get(k);
    const box = make("input", { type: "checkbox", checked: source.on, "aria-label": source.name + " votes", "data-control": "on" + k, onchange: () => {
      const off = new Set(state.choices.off);
      if (box.checked) off.delete(k); else off.add(k);
      choose({ off: [...off] });
    } });
    const weight = make("input", { type: "number", min: 0, max: 1000, step: "any", value: source.weight, "aria-label": "Weight of " + source.name, "data-control": "w" + k, onchange: () => {
      const weights = new Map(state.choices.weights);
      weights.set(k, weight.value === "" ? 1 : Number(weight.value));
      choose({ weights: [...weights] });
    } });
    const name = make("td", { text: source.name });
    if (source.settings && twice.has(source.name)) name.append(make("span", { class: "settings", text: source.settings }));
    if (one && one.dissents) name.append(make("span", { class: "remark", text: "dissents from the others" }));
    return make("tr", { class: source.on ? "" : "off" }, make("td", {}, box), name, make("td", { class: "number", text: number(source.groups) }), make("td", { class: "number", text: source.on && one ? share(one.alike) : "–" }), make("td", {}, weight));
  }));
  if (focus) { const node = document.querySelector('[data-control="' + focus + '"]'); if (node) node.focus(); }
  at("sources-note").textContent = state.input.sources > state.sources.length ? "The first " + state.sources.length + " of " + number(state.input.sources) + "." : "";
  at("all-on").disabled = !state.choices.off.length && !state.choices.weights.length;
}

function showSizes() {
  for (const [id, name] of [["min-elements", "min_elements"], ["min-candidates", "min_candidates"]]) if (document.activeElement !== at(id)) at(id).value = state.choices[name] === null ? "" : state.choices[name];
  at("unassigned").value = state.choices.unassigned;
}

function showTies() {
  const ties = state.choices.together;
  at("ties").hidden = !ties.length;
  at("tie-list").replaceChildren(...state.together.map((names, k) => make("li", {}, names.slice(0, 8).join(", ") + (names.length > 8 ? ", …" : "") + " ", make("button", { type: "button", text: "Undo", "aria-label": "Undo: " + names.slice(0, 3).join(", "), onclick: () => choose({ together: ties.filter((_, other) => other !== k) }) }))));
}

function showAnswer() {
  const answer = state.answer;
  at("groups-table").hidden = !answer;
  if (!answer) { at("headline").textContent = state.status === "working" ? "The first answer is being found." : "Open a file to begin."; return; }
  const scores = answer.scores ? " Against the truth: " + Object.entries(answer.scores).map(([name, value]) => name + " " + share(value)).join(", ") + "." : "";
  at("headline").textContent = (answer.groups === 1 ? "1 group" : number(answer.groups) + " groups") + " of " + number(state.input.elements) + " elements" + (answer.outside ? "; " + number(answer.outside) + " in no group." : "; every element is in one.") + scores;
  at("summary").textContent = answer.summary;
  const most = Math.max(...answer.sizes, 1), confidence = state.confidence || [];
  at("groups").replaceChildren(...answer.sizes.map((size, group) => {
    const bar = make("div", { class: "bar" });
    bar.style.width = 100 * size / most + "%"; bar.style.background = color(group);
    const button = make("button", { type: "button", text: groupName(group), "aria-pressed": String(sheet.group === String(group)), onclick: () => filter(group) });
    return make("tr", { class: sheet.group === String(group) ? "on" : "" }, make("td", {}, dot(group), button), make("td", { class: "number", text: number(size) }), make("td", { class: "share" }, bar), make("td", { class: "number wide", text: number(answer.candidates[group]) }), make("td", { class: "number", text: share(confidence[group]) }));
  }));
  if (answer.groups > answer.sizes.length) at("summary").textContent += " The first " + answer.sizes.length + " groups are listed.";
  const select = at("group");
  select.replaceChildren(make("option", { value: "", text: "all" }), ...(answer.outside ? [make("option", { value: "-1", text: "no group" })] : []), ...answer.sizes.map((_, group) => make("option", { value: group, text: groupName(group) })));
  if (![...select.options].some((option) => option.value === sheet.group)) sheet.group = "";
  select.value = sheet.group;
}

function filter(group) {
  sheet = { group: sheet.group === String(group) ? "" : String(group), text: sheet.text, page: 0 };
  showAnswer(); showElements();
}

async function showDetails() {
  try {
    const told = await ask("details");
    if (told.waiting) return;
    details = told;
    if (details.number !== state.answer.number) return;
    state.confidence = details.confidence; state.alike = details.sources;
    showAnswer(); showSources();
  } catch { /* the answer has moved on; its own details follow */ }
}

async function showElements() {
  let told;
  try { told = await ask("elements?" + new URLSearchParams(sheet)); } catch { return; }
  if (told.waiting) return;
  const from = told.total ? told.page * told.size + 1 : 0;
  at("elements-note").textContent = number(told.total) + (told.total === 1 ? " element" : " elements") + (told.pages > 1 ? "; " + number(from) + " to " + number(from + told.rows.length - 1) + " here." : ".");
  at("previous").disabled = told.page === 0; at("next").disabled = told.page + 1 >= told.pages;
  at("rows").replaceChildren(...told.rows.map((row) => {
    const box = make("input", { type: "checkbox", checked: chosen.has(row.element), "aria-label": "Select " + row.name, onchange: () => {
      if (box.checked) chosen.set(row.element, row.name); else chosen.delete(row.element);
      box.closest("tr").classList.toggle("on", box.checked);
      showChosen();
    } });
    return make("tr", { class: chosen.has(row.element) ? "on" : "" }, make("td", {}, box), make("td", { text: row.name }), make("td", {}, dot(row.group), groupName(row.group)), make("td", { class: "number", text: row.group < 0 ? "–" : share(row.confidence) }), make("td", { class: "number wide", text: row.group < 0 ? "–" : share(row.backing) }));
  }));
  showChosen();
}

function showChosen() {
  at("tie").disabled = chosen.size < 2;
  at("tie").textContent = chosen.size < 2 ? "These belong together" : "These " + chosen.size + " belong together";
}

async function showQuestion() {
  let told;
  try { told = await ask("question"); } catch { return; }
  if (told.waiting || told.number !== state.answer.number) return;
  const question = told.question, said = state.answers || [];
  at("question").hidden = !question && !said.length;
  for (const button of document.querySelectorAll("[data-reply]")) button.hidden = !question;
  asked = question;
  at("question-text").textContent = question
    ? "Do " + question.names[0] + " (" + groupName(question.groups[0]) + ") and " + question.names[1] + " (" + groupName(question.groups[1]) + ") belong together? " + Math.round(100 * question.together) + "% of the sources put them together. Your answer also counts for elements like them: " + number(question.sizes[0]) + " and " + number(question.sizes[1]) + "."
    : "Nothing is left that is worth asking.";
  at("replies").hidden = !said.length;
  at("reply-list").replaceChildren(...said.map((one, k) => make("li", {}, one.names.join(" and ") + (one.together ? " belong together " : " do not belong together "), make("button", { type: "button", text: "Undo", "aria-label": "Undo: " + one.names.join(", "), onclick: () => choose({ answers: state.choices.answers.filter((_, other) => other !== k) }) }))));
}

function reply(said) {
  if (!asked) return;
  if (said === "skip") choose({ skipped: [...state.choices.skipped, asked.elements] }).then(showQuestion);
  else choose({ answers: [...state.choices.answers, [...asked.elements, said === "together"]] });
}

function showReport() {
  clearTimeout(reportTimer);
  reportTimer = setTimeout(() => { if (state.status !== "ready") { shownAnswer = -1; return; } at("report-link").href = "report"; at("frame").src = "report?v=" + state.answer.number; showModes(); }, 400);
}

// The modes come with the report, which is made in a process of its own.
async function showModes() {
  let told;
  try { told = await ask("modes"); } catch { return; }
  if (told.waiting || told.number !== state.answer.number) return;
  const found = told.modes;
  at("modes").hidden = !found;
  if (!found) return;
  at("modes-text").textContent = found.summary + (found.number > found.columns.length && found.columns.length ? " The " + found.columns.length + " that explain most:" : "");
  at("modes-note").hidden = !found.columns.length;
  const many = (count, noun) => number(count) + " " + noun + (count === 1 ? "" : "s");
  at("mode-columns").replaceChildren(...found.columns.map((mode) => {
    const strip = draw("svg", { class: "strip", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": "Sizes of the groups of " + mode.name },
      ...mode.pieces.map((piece) => draw("rect", { x: piece.start, width: piece.width, y: 0, height: 8, fill: piece.color })));
    const fact = (name, text) => [make("dt", { text: name }), make("dd", { text })];
    const own = new Set(mode.sources);
    return make("article", { class: "mode", "aria-label": mode.name }, make("h3", { text: mode.name }),
      make("p", { text: many(mode.groups, "group") + " from " + many(mode.sources.length, "source") + ", " + mode.explained + "% explained" }), strip,
      make("dl", {}, ...fact("Elements of its groups", mode.sizes), ...fact("Alike to the answer above", share(mode.answer)),
        ...mode.others.flatMap((other) => fact("Shared with mode " + other.mode, "alike " + share(other.alike) + "; " + (other.groups || "no group in common"))),
        ...fact("Its sources", mode.named.join(", ") + (mode.unnamed ? " and " + mode.unnamed + " more" : ""))),
      make("button", { type: "button", text: "Let only these sources vote", "aria-label": "Let only the sources of " + mode.name + " vote", onclick: () => choose({ off: [...Array(state.input.sources).keys()].filter((k) => !own.has(k)) }) }));
  }));
}

function showKept() {
  const kept = state.kept, select = at("with"), value = select.value;
  select.replaceChildren(...kept.map((one) => make("option", { value: one.name, text: one.name + ": " + one.groups + " groups" })));
  if (kept.some((one) => one.name === value)) select.value = value;
  else if (kept.length) select.value = kept[kept.length - 1].name;
  for (const id of ["with-label", "back", "forget"]) at(id).hidden = !kept.length;
}

async function showBoth() {
  const name = at("with").value;
  if (!name) { at("both").replaceChildren(make("p", { class: "note", text: "Keep an answer, change something, and see what moved." })); return; }
  let told;
  try { told = await ask("compare?with=" + encodeURIComponent(name)); } catch { return; }
  if (told.waiting) return;
  const last = told.table.length - 1, lastColumn = told.table[0].length - 1;
  const rowName = (k) => (told.whole && k === last ? "no group" : "group " + k), columnName = (k) => (told.whole && k === lastColumn ? "no group" : "group " + k);
  const rows = told.table.map((_, k) => k).filter((k) => told.table[k].some((n) => n)), columns = told.table[0].map((_, k) => k).filter((k) => told.table.some((row) => row[k]));
  const head = make("tr", {}, make("th", { scope: "col", text: name + " \\ now" }), ...columns.map((k) => make("th", { scope: "col", class: "number", text: columnName(k) })));
  const body = rows.map((k) => make("tr", {}, make("th", { scope: "row", text: rowName(k) }), ...columns.map((c) => make("td", { class: told.table[k][c] === Math.max(...told.table[k]) && told.table[k][c] ? "most" : "", text: number(told.table[k][c]) }))));
  const side = (title, one) => make("div", {}, make("h3", { text: title }), make("p", { class: "note", text: one.summary }));
  at("both").replaceChildren(
    make("p", { class: "headline", text: "Adjusted Rand index " + share(told.scores.ari) + "; " + (told.moved === 1 ? "1 element" : number(told.moved) + " elements") + " moved." }),
    make("div", { class: "sides" }, side("Answer " + name, told.before), side("Answer now", told.after)),
    make("div", { class: "scroll" }, make("table", { class: "cross" }, make("caption", { class: "note", text: "Elements of each group of answer " + name + " (rows) in each group now (columns)" + (told.whole ? "" : ", the first ones") }), make("thead", {}, head), make("tbody", {}, ...body))),
    ...(told.moved ? [make("h3", { text: "Elements that moved" }), make("ul", { class: "note" }, ...told.elements.slice(0, 30).map((one) => make("li", { text: one.name + ": " + groupName(one.before) + " → " + groupName(one.after) })), ...(told.moved > 30 ? [make("li", { text: "and " + number(told.moved - 30) + " more" })] : []))] : []));
}

function showLines() {
  const lines = state.lines;
  at("lines").hidden = !lines;
  if (!lines) return;
  at("lines-note").textContent = lines.note || "The same answer on the command line:";
  at("command").textContent = lines.command || "";
  at("command").hidden = !lines.command; at("copy").hidden = !lines.command;
  if (!lines.command) at("python-box").open = true;
  at("python").textContent = lines.python || "";
  at("python-box").hidden = !lines.python;
}

function upload(file) {
  if (!file) return;
  say(""); chosen.clear(); sheet = { group: "", text: "", page: 0 }; at("find").value = "";
  at("status-text").textContent = "Sending " + file.name + "…";
  delete document.body.dataset.ready;
  tell("upload", file, { "Content-Type": "application/octet-stream", "X-Name": encodeURIComponent(file.name) }).then((taken) => { if (!taken && state) show(state); });
}

function listen() {
  at("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  at("cancel").addEventListener("click", () => send("cancel", {})); // does not wait
  at("file").addEventListener("change", () => { upload(at("file").files[0]); at("file").value = ""; });
  const drop = at("drop");
  for (const kind of ["dragover", "dragleave", "drop"]) document.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.toggle("over", kind === "dragover"); });
  document.addEventListener("drop", (event) => upload(event.dataTransfer.files[0]));
  at("read-again").addEventListener("click", () => {
    const roles = {};
    for (const select of at("roles").querySelectorAll("select")) roles[select.dataset.column] = select.value;
    tell("reading", { kind: at("kind").value, roles: at("kind").value === state.input.kind ? roles : null });
  });
  for (const radio of document.querySelectorAll("[name=mode]")) radio.addEventListener("change", () => {
    const patch = { mode: radio.value };
    if (radio.value === "quorum" && state.path.length) patch.quorum = state.path[Number(at("quorum").value)][0];
    if (radio.value === "n_groups") patch.n_groups = Math.max(1, Number(at("n-groups").value) || 2);
    choose(patch);
  });
  at("quorum").addEventListener("input", () => {
    showSteps(state.path, Number(at("quorum").value));
    choose({ mode: "quorum", quorum: state.path[Number(at("quorum").value)][0] });
  });
  const cut = () => { const value = Math.round(Number(at("n-groups").value)); if (value >= 1) choose({ mode: "n_groups", n_groups: value }); };
  at("n-groups").addEventListener("change", cut);
  at("n-groups").addEventListener("keydown", (event) => { if (event.key === "Enter") cut(); });
  at("all-on").addEventListener("click", () => choose({ off: [], weights: [] }));
  for (const [id, name] of [["min-elements", "min_elements"], ["min-candidates", "min_candidates"]]) at(id).addEventListener("change", () => choose({ [name]: at(id).value === "" ? null : Math.round(Number(at(id).value)) }));
  at("unassigned").addEventListener("change", () => choose({ unassigned: at("unassigned").value }));
  let typing = null;
  at("find").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { sheet.text = at("find").value; sheet.page = 0; showElements(); }, 150); });
  at("group").addEventListener("change", () => { sheet.group = at("group").value; sheet.page = 0; showAnswer(); showElements(); });
  at("previous").addEventListener("click", () => { sheet.page -= 1; showElements(); });
  at("next").addEventListener("click", () => { sheet.page += 1; showElements(); });
  at("tie").addEventListener("click", () => { choose({ together: [...state.choices.together, [...chosen.keys()]] }); chosen.clear(); });
  at("keep").addEventListener("click", async () => { if (await tell("keep", {})) { at("with").value = state.kept[state.kept.length - 1].name; showBoth(); } });
  at("with").addEventListener("change", showBoth);
  at("back").addEventListener("click", () => tell("back", { name: at("with").value }));
  at("forget").addEventListener("click", async () => { await tell("drop", { name: at("with").value }); showBoth(); });
  at("save").addEventListener("click", async () => { if (await tell("save", {})) at("saved").textContent = "Saved at " + new Date().toLocaleTimeString() + "."; });
  for (const button of document.querySelectorAll("[data-reply]")) button.addEventListener("click", () => reply(button.dataset.reply));
  at("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(at("command").textContent); at("saved").textContent = "Copied."; }
    catch { getSelection().selectAllChildren(at("command")); at("saved").textContent = "Press Ctrl-C to copy."; }
  });
  if (narrow()) for (const id of ["card-sources", "card-save"]) at(id).open = false;
}

listen();
refresh();
