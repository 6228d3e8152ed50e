// Own scores and evidence, before the program's are shown: kept in the page until committed.

import { call, doing, element, exact, fail, say, url } from "./api.js";
import { choose, listen, step } from "./keys.js";
import { selected, show } from "./marks.js";

const form = document.getElementById("rating");
const path = `/v1/assessments/${form.dataset.id}/review`;
const items = [...form.querySelectorAll("fieldset")];
const turns = [...document.querySelectorAll(".turn")];
let spans = [];
let isCommitted = false;

const current = () => items.find((one) => one.hasAttribute("aria-current")) ?? items[0];
const scoreOf = (item) => form.elements[item.dataset.item].value;

function left() {
  const open = items.filter((item) => !scoreOf(item)).length;
  const one = open === 1 ? "1 item is left." : `${open} items are left.`;
  document.getElementById("left").textContent = open ? one : "All items are rated.";
}

function score(value) {
  const item = current();
  const radio = item.querySelector(`input[value="${value}"]`);
  radio.checked = true;
  left();
  say(`${item.dataset.label}: ${value === "u" ? "cannot tell" : value}`);
  const next = items[items.indexOf(item) + 1];
  if (next) choose(items, next);
}

function mark(item) {
  const found = selected();
  if (found.why) return say(found.why);
  const { start, end, words } = found;
  const { item: key, label, slug } = item.dataset;
  spans.push({ start, end, words, item: key, label, slug });
  marked();
  say(`Marked for ${item.dataset.label}.`);
}

function marked() {
  show(spans);
  for (const item of items) {
    const own = spans.filter((one) => one.item === item.dataset.item);
    item.querySelector(".marked").replaceChildren(...own.map((one) => {
      const away = element("button", { type: "button", class: "small", "aria-label": `Take away: ${one.words}` }, "×");
      away.addEventListener("click", () => {
        spans = spans.filter((other) => other !== one);
        marked();
        item.focus();
      });
      return element("li", {}, element("q", { dir: "auto" }, ...exact(one.words)), " ", away);
    }));
  }
}

function rated() {
  return Object.fromEntries(items.map((item) => {
    const value = scoreOf(item);
    const isUnknown = value === "u";
    const evidence = spans
      .filter((one) => one.item === item.dataset.item)
      .map(({ start, end }) => ({ start, end }));
    return [item.dataset.item, { score: isUnknown ? null : Number(value), cannot_tell: isUnknown, evidence }];
  }));
}

async function commit() {
  const open = items.find((item) => !scoreOf(item));
  if (open) {
    say(`${open.dataset.label} has no score yet.`);
    return choose(items, open);
  }
  await call("POST", `${path}/ratings`, { items: rated() });
  isCommitted = true;
  window.location.assign(url(`/assessments/${form.dataset.id}`));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  doing(document.getElementById("commit"), commit);
});
form.addEventListener("change", left);
for (const item of items) {
  item.addEventListener("focusin", () => {
    for (const one of items) one.removeAttribute("aria-current");
    item.setAttribute("aria-current", "true");
  });
  item.querySelector(".mark").addEventListener("click", () => mark(item));
}
window.addEventListener("beforeunload", (event) => {
  if (!isCommitted && (spans.length || items.some(scoreOf))) event.preventDefault();
});

const table = {
  m: () => mark(current()),
  j: () => step(items, 1),
  k: () => step(items, -1),
  "[": () => step(turns, -1, "data-current"),
  "]": () => step(turns, 1, "data-current"),
  v: () => form.requestSubmit(),
  "Ctrl+Enter": () => form.requestSubmit(),
};
for (const value of ["0", "1", "2", "3", "u"]) table[`score ${value}`] = () => score(value);
items.forEach((item, at) => {
  for (const key of [`${at + 1}`, `Shift+${at + 1}`]) table[key] = () => choose(items, item);
});
const sheet = document.getElementById("keys");
document.getElementById("show-keys").addEventListener("click", () => sheet.showModal());
listen(table);
call("POST", path, {}).catch(fail);
