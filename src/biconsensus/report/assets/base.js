"use strict";
// Text goes into the page only through textContent and attributes, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const COLORS = data.colors, GREY = data.outlier;
const state = { group: null, point: data.path.start, redraw: [] };

const at = (id) => document.getElementById(id);
const groupName = (group) => (group < 0 ? "no group" : "group " + group);
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
const plural = (count, noun) => number(count) + " " + noun + (count === 1 ? "" : "s");

function number(value, digits) {
  if (value === null || value === undefined) return "–";
  const format = digits === undefined ? { maximumFractionDigits: 3 } : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return Number(value).toLocaleString("en", format);
}

// Three digits that count: enough for the ends of an axis.
const roughly = (value) => (Math.abs(value) >= 1e6 || (value && Math.abs(value) < 1e-3) ? value.toExponential(1) : Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 }));

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}
const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Whole numbers that Python wrote as bytes in base 64.
function unpack(packed) {
  const raw = atob(packed.text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  if (packed.bytes === 1) return bytes;
  const view = new DataView(bytes.buffer), size = raw.length / packed.bytes;
  const out = packed.bytes === 2 ? new Uint16Array(size) : new Uint32Array(size);
  for (let i = 0; i < size; i++) out[i] = packed.bytes === 2 ? view.getUint16(2 * i, true) : view.getUint32(4 * i, true);
  return out;
}
const unpackGroups = (packed) => Int32Array.from(unpack(packed), (value) => value - 1);
const unpackShares = (packed) => Float32Array.from(unpack(packed), (value) => value / 250);
const unpackRange = (packed) => Float64Array.from(unpack(packed), (value) => packed.low + (packed.high - packed.low) * value / 65535);
function lists(counts, values) {
  const out = [], sizes = unpack(counts), all = unpack(values);
  for (let i = 0, start = 0; i < sizes.length; start += sizes[i], i++) out.push(all.subarray(start, start + sizes[i]));
  return out;
}

// What is on screen is drawn at once, the rest right after, piece by piece, so that moving the slider stays smooth.
let pending = [];
function shows(render, node) { state.redraw.push({ render, node }); render(); }
function onScreen(node) {
  const box = node.getBoundingClientRect();
  return box.bottom > -50 && box.top < innerHeight + 50;
}
function refresh() {
  const idle = pending.length === 0;
  const visible = state.redraw.map(({ node }) => !node || onScreen(node));
  pending = state.redraw.filter((_, k) => !visible[k]);
  markReady();
  state.redraw.forEach(({ render }, k) => { if (visible[k]) render(); });
  if (idle) setTimeout(drawNext);
}
function drawNext() {
  markReady();
  if (!pending.length) return;
  pending.shift().render();
  setTimeout(drawNext);
}
// Sections below the first screen are built one after the other once the page is there.
const sections = [];
function buildNext() {
  markReady();
  if (!sections.length) return;
  sections.shift()();
  setTimeout(buildNext);
}
function settle() {
  while (sections.length) sections.shift()();
  while (pending.length) pending.shift().render();
  markReady();
}
// `data-ready` says that every section is built and shows the present point and group.
function markReady() { document.body.toggleAttribute("data-ready", !sections.length && !pending.length); }
addEventListener("beforeprint", settle);

function tip(event, lines) {
  const box = at("tip");
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(...lines.map((line) => make("div", { text: line })));
  const width = box.offsetWidth, height = box.offsetHeight;
  box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6)) + "px";
  box.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 6)) + "px";
}
function tipped(node, lines) {
  node.addEventListener("mousemove", (event) => tip(event, typeof lines === "function" ? lines(event) : lines));
  node.addEventListener("mouseleave", () => tip(null, null));
  return node;
}
