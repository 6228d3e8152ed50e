// After one's own scores are committed: verdicts on the program's evidence, what it missed, second thoughts.

import { call, doing, element, fail, say, url } from "./api.js";
import { listen } from "./keys.js";
import { selected } from "./marks.js";

const { id, phase, next } = document.getElementById("review").dataset;
const path = `/v1/assessments/${id}/review`;
const REASONS = {
  wrong_item: "another item", negated: "it is denied", past: "it is past",
  not_the_participant: "not the participant", irony: "irony", other: "another reason",
};
const cards = [...document.querySelectorAll(".card")];
const sections = [...document.querySelectorAll("section.evidence")];
const control = (words, work, attributes = {}) => {
  const button = element("button", { type: "button", class: "small", ...attributes }, words);
  button.addEventListener("click", () => doing(button, () => work(button)));
  return button;
};

async function row(said, words, place) {
  await call("POST", `${path}/rows`, said);
  place.textContent = words;
  say(`Saved: ${words}`);
}

// A card is the quote of its item at its place: q-sleep-2 is the second of sleep's.
function quoteOf(card) {
  const section = card.closest("section.evidence");
  return { item: section.dataset.item, evidence: [...section.querySelectorAll(".card")].indexOf(card) };
}

function judge(card) {
  const state = element("span", { class: "mine" });
  const reason = element("select", { "aria-label": "Why it is rejected" });
  for (const [value, words] of Object.entries(REASONS)) reason.append(element("option", { value }, words));
  const accept = control("Accept", () =>
    row({ kind: "evidence", ...quoteOf(card), verdict: "accepted" }, "accepted by you", state), { "data-do": "a" });
  const reject = control("Reject:", () =>
    row({ kind: "evidence", ...quoteOf(card), verdict: "rejected", reason: reason.value },
      `rejected by you: ${REASONS[reason.value]}`, state), { "data-do": "r" });
  card.append(element("div", { class: "judge", role: "group", "aria-label": "Your verdict" }, accept, reject, reason, state));
}

function rescore(section) {
  const name = `own-${section.dataset.item}`;
  const state = element("span", { class: "mine" });
  const field = element("fieldset", { class: "rescore" }, element("legend", {}, "Your score now"));
  for (const value of ["0", "1", "2", "3", "u"]) {
    const radio = element("input", { type: "radio", name, value });
    field.append(element("label", {}, radio, value === "u" ? "cannot tell" : value));
  }
  const save = control("Save", () => {
    const value = field.querySelector("input:checked")?.value;
    if (!value) return say("Choose a score first.");
    const said = value === "u" ? { score: null, cannot_tell: true } : { score: Number(value) };
    const words = value === "u" ? "cannot tell" : value;
    return row({ kind: "score", item: section.dataset.item, ...said }, `changed to ${words}`, state);
  }, { class: "small save" });
  const missed = control("Mark selected words as missed", () => {
    const found = selected();
    if (found.why) return say(found.why);
    const { start, end, words } = found;
    return row({ kind: "missed", item: section.dataset.item, start, end }, `missed: “${words}”`, state);
  }, { class: "small missed", "data-do": "m" });
  field.append(save);
  section.append(field, missed, state);
}

function remember({ kind, item, evidence, verdict, reason, score, span }) {
  const section = sections.find((one) => one.dataset.item === item);
  if (kind === "evidence") {
    const state = section?.querySelectorAll(".card")[evidence]?.querySelector(".mine");
    if (state) state.textContent = verdict === "accepted" ? "accepted by you" : `rejected by you: ${REASONS[reason] ?? ""}`;
  } else if (section && kind === "score") {
    section.querySelector(":scope > .mine").textContent = `changed to ${score ?? "cannot tell"}`;
  } else if (section && kind === "missed") {
    section.querySelector(":scope > .mine").textContent = `missed words marked (${span.start}–${span.end})`;
  }
}

const current = () => document.querySelector(".card.at");
const itemNow = () => current()?.closest("section.evidence") ?? document.activeElement.closest("section.evidence") ?? sections[0];
const press = (place, key) => place?.querySelector(`[data-do="${key}"]`)?.click();

function score(value) {
  const field = document.activeElement.closest(".rescore");
  if (!field) return;
  field.querySelector(`input[value="${value}"]`).checked = true;
  field.querySelector(".save").click();
}

async function erase(button) {
  const word = document.getElementById("erase-word");
  if (word.value.trim() !== "erase") {
    word.focus();
    return say("Type the word erase first.");
  }
  const { what } = button.dataset;
  await call("DELETE", what === "subject" ? `/v1/subjects/${button.dataset.subject}` : `/v1/assessments/${id}`);
  window.location.assign(url("/"));
}

for (const button of document.querySelectorAll("[data-what]")) {
  button.addEventListener("click", () => doing(button, () => erase(button)));
}

const table = { "Ctrl+Enter": () => window.location.assign(next) };
if (phase === "revealed") {
  cards.forEach(judge);
  sections.forEach(rescore);
  Object.assign(table, {
    a: () => press(current(), "a"),
    r: () => press(current(), "r"),
    m: () => press(itemNow(), "m"),
  });
  sections.forEach((section, at) => {
    table[`Shift+${at + 1}`] = () => section.querySelector(".rescore input").focus();
  });
  for (const value of ["0", "1", "2", "3", "u"]) table[`score ${value}`] = () => score(value);
  call("GET", path).then(({ content }) => content.rows?.filter((one) => one.mine).forEach(remember)).catch(fail);
} else if (phase) {
  table.v = () => document.getElementById("rate").click();
}
listen(table);
