"use strict";
// Text goes into the page only through textContent and attributes, never as HTML.
const data = JSON.parse(document.getElementById("data").textContent);
const COLORS = data.colors, GREY = data.outlier;
const state = { group: null, redraw: [] };
const at = (id) => document.getElementById(id);
const color = (group) => (group < 0 ? GREY : COLORS[group % COLORS.length]);
const groupName = (group) => (group < 0 ? "no group" : "group " + group);
const number = (value, digits) => value === null || value === undefined ? "–"
  : Number(value).toLocaleString("en", digits === undefined ? { maximumFractionDigits: 3 } : { minimumFractionDigits: digits, maximumFractionDigits: digits });

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

function draw(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

// The same shapes as the dots of the pictures: they change when the colours start again.
function shapePath(context, group, x, y, r) {
  const shape = group < 0 ? 0 : Math.floor(group / COLORS.length) % 4;
  context.beginPath();
  if (shape === 0) context.arc(x, y, r, 0, 7);
  else if (shape === 1) context.rect(x - r, y - r, 2 * r, 2 * r);
  else if (shape === 2) { context.moveTo(x, y - 1.3 * r); context.lineTo(x + 1.2 * r, y + r); context.lineTo(x - 1.2 * r, y + r); context.closePath(); }
  else { context.moveTo(x, y - 1.4 * r); context.lineTo(x + 1.4 * r, y); context.lineTo(x, y + 1.4 * r); context.lineTo(x - 1.4 * r, y); context.closePath(); }
}

function swatch(group) {
  const canvas = make("canvas", { class: "swatch", width: 26, height: 26, "aria-hidden": "true" });
  canvas.style.border = "0"; canvas.style.width = ".8rem"; canvas.style.cursor = "inherit";
  const context = canvas.getContext("2d");
  context.fillStyle = color(group);
  shapePath(context, group, 13, 13, group < 0 ? 6 : 9);
  context.fill();
  return canvas;
}

function select(group) {
  state.group = group === state.group ? null : group;
  document.body.dataset.group = state.group === null ? "" : String(state.group);
  for (const redraw of state.redraw) redraw();
}

function tip(event, lines) {
  const box = at("tip");
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(...lines.map((line) => make("div", { text: line })));
  const width = box.offsetWidth, height = box.offsetHeight;
  box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 6)) + "px";
  box.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - height - 6)) + "px";
}

const faded = (group) => state.group !== null && state.group !== group;

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function rgb(hex) { return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)); }
