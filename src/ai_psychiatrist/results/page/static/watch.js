// A page that is open notices new danger and other changes, and loads itself again. It stays as it is
// while something is typed or chosen on it, or shows a link that is shown once.

import { element, url } from "./api.js";

const EVERY_MILLISECONDS = 4000;
const ALARM = `alarm ${window.location.pathname}`;
const { watch, shown, danger } = document.querySelector("[data-watch]").dataset;
const title = document.title;
let known = Number(danger);

function alarm() {
  document.title = `⚠ New danger · ${title}`;
  const again = element("a", { href: "" }, "Show it");
  const line = element("p", { class: "not-read" }, "New signs of danger in an interview: a person has to look now. ", again);
  document.getElementById("failed").replaceChildren(line);
}

const fields = [...document.querySelectorAll("input, select, textarea")];
const state = (field) => `${field.value} ${field.checked}`;
let begun = fields.map(state);
// Other scripts of the page set fields too, as to remembered settings; that is nobody's choice here.
document.addEventListener("DOMContentLoaded", () => (begun = fields.map(state)), { once: true });

const isInUse = () => document.getElementById("link") !== null
  || document.activeElement?.matches("input, select, textarea")
  || fields.some((field, at) => state(field) !== begun[at]);

async function look() {
  let now;
  try {
    const answer = await fetch(url(watch));
    if (!answer.ok) return;
    now = await answer.json();
  } catch {
    // The server is away for a while; the next look comes by itself.
    return;
  }
  const isNew = now.danger > known;
  known = now.danger;
  if (isNew) alarm();
  if (now.shown === shown || isInUse()) return;
  if (isNew) sessionStorage.setItem(ALARM, "new");
  window.location.reload();
}

if (sessionStorage.getItem(ALARM)) {
  sessionStorage.removeItem(ALARM);
  alarm();
}
setInterval(look, EVERY_MILLISECONDS);
