// What can be taken away: labels of the point on screen, and the lines that give this answer again.
function csvCell(value) {
  const text = String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
function labelsCsv() {
  const labels = labelsAt(), sure = confidenceAt(), backing = backingAt(), rows = ["id,group," + (data.overlap ? "" : "confidence,") + "backing"];
  for (let i = 0; i < labels.length; i++) {
    const numbers = (data.overlap ? [] : [sure[i].toFixed(3)]).concat(backing[i].toFixed(3));
    rows.push([csvCell(data.elements.ids[i]), labels[i], ...numbers].join(","));
  }
  return rows.join("\r\n") + "\r\n";
}
const again = () => {
  const point = here(), quorum = point.chosen ? data.recipe.at : point.quorum, recipe = data.recipe;
  if (quorum === null) return { python: recipe.python, command: recipe.command };
  const put = (line) => line.replace("QUORUM", quorum);
  return { python: put(recipe.python_at), command: put(recipe.command_at) };
};
async function copy(text, button) {
  let done = false;
  try { await navigator.clipboard.writeText(text); done = true; } catch {
    const area = make("textarea", { "aria-hidden": "true" });
    area.value = text;
    document.body.append(area); area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  button.textContent = done ? "copied" : "select and copy";
  setTimeout(() => { button.textContent = "copy"; }, 2000);
}
function exports_() {
  const all = data.elements.ids.length === data.elements.total;
  at("csv").addEventListener("click", () => save(`labels-${here().groups}-groups.csv`, labelsCsv(), "text/csv"));
  at("csv-note").textContent = all ? "All elements, with the groups of the point on screen."
    : `The page holds ${number(data.elements.ids.length)} of ${number(data.elements.total)} elements, and only these are written; the lines below give all of them.`;
  for (const kind of ["python", "command"]) at("copy-" + kind).addEventListener("click", (event) => copy(again()[kind], event.target));
  at("recipe-note").textContent = data.recipe.note;
  shows(() => {
    const { python, command } = again();
    at("python").textContent = python;
    at("command").textContent = command;
    at("command-line").hidden = !command;
  });
}
