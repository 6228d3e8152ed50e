// Own scores and evidence, before the program's are shown. Until they are committed, scores and places of marks,
// and no words, are kept in the storage of this tab: loading the page again loses nothing.

import { call, doing, element, exact, fail, say, url } from "./api.js";
import { choose, listen, step } from "./keys.js";
import { selected, show, wordsAt } from "./marks.js";

const form = document.getElementById("rating");
const path = `/v1/assessments/${form.dataset.id}/review`;
const items = [...form.querySelectorAll("fieldset")];
const turns = [...document.querySelectorAll(".turn")];
const draft = `draft ${form.dataset.draft}`;
let spans = [];
let isCommitted = false;
// The selected words wait to be told which item they speak of.
let isAsked = false;

const chosen = () => items.find((one) => one.hasAttribute("aria-current"));
const current = () => chosen() ?? items[0];
const scoreOf = (item) => form.elements[item.dataset.item].value;

function left() {
  const open = items.filter((item) => !scoreOf(item)).length;
  const one = open === 1 ? "1 item is left." : `${open} items are left.`;
  document.getElementById("left").textContent = open ? one : "All items are rated.";
}

function keep() {
  left();
  const scores = Object.fromEntries(items.map((item) => [item.dataset.item, scoreOf(item)]));
  const places = spans.map(({ start, end, item }) => ({ start, end, item }));
  sessionStorage.setItem(draft, JSON.stringify({ scores, places }));
}

function restore() {
  form.reset();
  const { scores = {}, places = [] } = JSON.parse(sessionStorage.getItem(draft) ?? "{}");
  for (const item of items) {
    const radio = item.querySelector(`input[value="${scores[item.dataset.item] ?? ""}"]`);
    if (radio) radio.checked = true;
  }
  for (const place of places) {
    const item = items.find((one) => one.dataset.item === place.item);
    const found = wordsAt(place);
    if (item && found) spans.push(spanOf(item, { ...place, ...found }));
  }
  marked();
  if (spans.length || items.some(scoreOf)) say("What you had entered here is back; it is not committed yet.");
}

const spanOf = ({ dataset: { item, label, slug } }, { start, end, words }) => ({ start, end, words, item, label, slug });

function score(value) {
  const item = current();
  const radio = item.querySelector(`input[value="${value}"]`);
  radio.checked = true;
  keep();
  say(`${item.dataset.label}: ${value === "u" ? "cannot tell" : value}`);
  const next = items[items.indexOf(item) + 1];
  if (next) choose(items, next);
}

function mark(item) {
  isAsked = false;
  const found = selected();
  if (found.why) return say(found.why);
  const isThere = spans.some(({ start, end, item: of }) => of === item.dataset.item && start === found.start && end === found.end);
  if (isThere) return say(`These words are marked for ${item.dataset.label} already.`);
  spans.push(spanOf(item, found));
  marked();
  getSelection().removeAllRanges();
  say(`Marked for ${item.dataset.label}: ${found.words}`);
}

function ask() {
  const found = selected();
  if (found.why) return say(found.why);
  if (chosen()) return mark(chosen());
  isAsked = true;
  say("Which item do these words speak of? Press 1 to 8.");
}

function pick(item) {
  choose(items, item);
  if (isAsked) mark(item);
}

function marked() {
  show(spans);
  keep();
  for (const item of items) {
    const own = spans.filter((one) => one.item === item.dataset.item);
    item.querySelector(".marked").replaceChildren(...own.map((one) => {
      const away = element("button", { type: "button", class: "small", "aria-label": `Take away: ${one.words}` }, "×");
      away.addEventListener("click", () => {
        spans = spans.filter((other) => other !== one);
        marked();
        item.querySelector(".mark").focus();
        say(`Taken away from ${one.label}.`);
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

// Committing cannot be taken back: it is asked for once, with what has no words beside it.
function confirm() {
  const open = items.find((item) => !scoreOf(item));
  if (open) {
    say(`${open.dataset.label} has no score yet: choose 0 to 3, or cannot tell.`);
    return choose(items, open);
  }
  const names = (these) => these.map((item) => item.dataset.label).join(", ");
  const bare = items.filter((item) => /[1-3]/.test(scoreOf(item)) && !spans.some((one) => one.item === item.dataset.item));
  const unknown = items.filter((item) => scoreOf(item) === "u");
  document.getElementById("unmarked").textContent = [
    bare.length ? `Scored above 0 without marked words: ${names(bare)}.` : "Each score above 0 has marked words.",
    ...(unknown.length ? [`Cannot tell: ${names(unknown)}.`] : []),
  ].join(" ");
  asking.returnValue = "";
  asking.showModal();
}

async function commit() {
  await call("POST", `${path}/ratings`, { items: rated() });
  isCommitted = true;
  sessionStorage.removeItem(draft);
  window.location.assign(url(`/assessments/${form.dataset.id}`));
}

const asking = document.getElementById("confirm");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});
asking.addEventListener("close", () => {
  if (asking.returnValue === "commit") doing(document.getElementById("commit"), commit);
});
form.addEventListener("change", keep);
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
  m: ask,
  j: () => step(items, 1),
  k: () => step(items, -1),
  "[": () => step(turns, -1, "data-current"),
  "]": () => step(turns, 1, "data-current"),
  v: () => form.requestSubmit(),
  "Ctrl+Enter": () => form.requestSubmit(),
};
for (const value of ["0", "1", "2", "3", "u"]) table[`score ${value}`] = () => score(value);
items.forEach((item, at) => {
  for (const key of [`${at + 1}`, `Shift+${at + 1}`]) table[key] = () => pick(item);
});
const sheet = document.getElementById("keys");
document.getElementById("show-keys").addEventListener("click", () => sheet.showModal());
listen(table);
restore();
document.getElementById("commit").disabled = false;
call("POST", path, {}).catch(fail);
