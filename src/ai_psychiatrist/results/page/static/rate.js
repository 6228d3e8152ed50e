// Own scores and evidence, before the program's are shown. Until they are committed, scores and places of marks,
// and no words, are kept in the storage of this tab: loading the page again loses nothing.

import { call, doing, element, exact, fail, say, url } from "./api.js";
import { areOn, choose, listen } from "./keys.js";
import { show, wordsAt } from "./marks.js";
import { chosen as wordsChosen, reading, turn } from "./reading.js";

const form = document.getElementById("rating");
const path = `/v1/assessments/${form.dataset.id}/review`;
const items = [...form.querySelectorAll("fieldset")];
const draft = `draft ${form.dataset.draft}`;
let spans = [];
let isCommitted = false;
// The selected words wait to be told which item they speak of.
let isAsked = false;
// The item that the next digit scores; where none waits, digits choose an item. A score ends the waiting, so that
// no digit that was meant for an item is taken for a score.
let waiting = null;

const chosen = () => items.find((one) => one.hasAttribute("aria-current"));
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

const inWords = (value) => (value === "u" ? "cannot tell" : value);

// Shows which item the next digit scores, and tells it to a screen reader.
function expect(item, before = "") {
  waiting = item;
  for (const one of items) one.toggleAttribute("data-waits", one === item);
  const next = item ? `0 to 3, or u, scores ${item.dataset.label}.` : "1 to 8, j or k chooses an item.";
  document.getElementById("next-key").textContent = areOn() ? before + next : "";
}

function go(item) {
  choose(items, item);
  expect(item);
}

function step(by) {
  const at = items.indexOf(chosen());
  go(items[Math.min(Math.max(at + by, 0), items.length - 1)]);
}

function digit(value) {
  const item = items[Number(value) - 1];
  if (isAsked && item) return pick(item);
  if (!/^[0-3u]$/.test(value) || !waiting) return item ? pick(item) : expect(null, "No item waits for a score: ");
  const scored = waiting;
  const radio = scored.querySelector(`input[value="${value}"]`);
  radio.checked = true;
  choose(items, scored);
  keep();
  expect(null, `${scored.dataset.label}: ${inWords(value)}. `);
}

function mark(item) {
  isAsked = false;
  const found = wordsChosen();
  if (found.why) return say(found.why);
  const isThere = spans.some(({ start, end, item: of }) => of === item.dataset.item && start === found.start && end === found.end);
  if (isThere) return say(`These words are marked for ${item.dataset.label} already.`);
  spans.push(spanOf(item, found));
  marked();
  getSelection().removeAllRanges();
  say(`Marked for ${item.dataset.label}: ${found.words}`);
}

function ask() {
  const found = wordsChosen();
  if (found.why) return say(found.why);
  if (chosen()) return mark(chosen());
  isAsked = true;
  say("Which item do these words speak of? Press 1 to 8.");
}

function pick(item) {
  if (!isAsked) return go(item);
  choose(items, item);
  expect(null);
  mark(item);
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

// Committing cannot be taken back: it is asked for once, with all scores and what has no words beside it.
function confirm() {
  const open = items.find((item) => !scoreOf(item));
  if (open) {
    say(`${open.dataset.label} has no score yet: choose 0 to 3, or cannot tell.`);
    return go(open);
  }
  const names = (these) => these.map((item) => item.dataset.label).join(", ");
  const bare = items.filter((item) => /[1-3]/.test(scoreOf(item)) && !spans.some((one) => one.item === item.dataset.item));
  document.getElementById("unmarked").textContent =
    bare.length ? `Scored above 0 without marked words: ${names(bare)}.` : "Each score above 0 has marked words.";
  document.getElementById("summary").replaceChildren(...items.map((item) => {
    const count = spans.filter((one) => one.item === item.dataset.item).length;
    const marks = count ? `${count} ${count === 1 ? "passage" : "passages"}` : "none";
    return element("tr", {}, element("th", { scope: "row" }, item.dataset.label),
      element("td", {}, inWords(scoreOf(item))), element("td", {}, marks));
  }));
  asking.returnValue = "";
  asking.showModal();
}

async function commit() {
  await call("POST", `${path}/ratings`, { items: rated() });
  isCommitted = true;
  sessionStorage.removeItem(draft);
  // With the queue, where the address has one.
  window.location.assign(url(`/assessments/${form.dataset.id}`) + window.location.search);
}

const asking = document.getElementById("confirm");
form.addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});
asking.addEventListener("close", () => {
  if (asking.returnValue === "commit") doing(document.getElementById("commit"), commit);
});
form.addEventListener("change", (event) => {
  keep();
  expect(null, `${event.target.closest("fieldset").dataset.label}: ${inWords(event.target.value)}. `);
});
for (const item of items) {
  item.addEventListener("focusin", (event) => {
    for (const one of items) one.removeAttribute("aria-current");
    item.setAttribute("aria-current", "true");
    if (item.contains(event.relatedTarget)) return;
    // Who comes to the scores of another item by the Tab key means these; no item waits out of sight of its mark.
    expect(event.target.type === "radio" || waiting === item ? item : null);
  });
  item.querySelector(".mark").addEventListener("click", () => mark(item));
}
window.addEventListener("beforeunload", (event) => {
  if (!isCommitted && (spans.length || items.some(scoreOf))) event.preventDefault();
});

const table = {
  ...reading,
  m: ask,
  j: () => step(1),
  k: () => step(-1),
  "[": () => turn(-1),
  "]": () => turn(1),
  v: () => form.requestSubmit(),
  "Ctrl+Enter": () => form.requestSubmit(),
};
for (const value of ["0", "1", "2", "3", "4", "5", "6", "7", "8", "u"]) {
  for (const key of [value, `score ${value}`]) table[key] = () => digit(value);
}
items.forEach((item, at) => {
  table[`Shift+${at + 1}`] = () => pick(item);
});
const sheet = document.getElementById("keys");
document.getElementById("show-keys").addEventListener("click", () => sheet.showModal());
listen(table);
sheet.querySelector("input").addEventListener("change", () => expect(waiting));
restore();
expect(null);
document.getElementById("commit").disabled = false;
call("POST", path, {}).catch(fail);
