// After one's own scores are committed: verdicts on the program's evidence, what people marked, second thoughts.

import { call, doing, element, fail, say, url } from "./api.js";
import { listen } from "./keys.js";
import { wordsAt } from "./marks.js";
import { chosen, reading } from "./reading.js";

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
  const reason = element("select", { "aria-label": "Why it is rejected" }, element("option", { value: "" }, "because …"));
  for (const [value, words] of Object.entries(REASONS)) reason.append(element("option", { value }, words));
  const accept = control("Accept", () =>
    row({ kind: "evidence", ...quoteOf(card), verdict: "accepted" }, "accepted by you", state), { "data-do": "a" });
  const reject = control("Reject", async () => {
    if (!reason.value) {
      reason.focus();
      return say("Choose why it is rejected, then press Enter or Reject.");
    }
    if (document.activeElement === reason) card.focus({ preventScroll: true });
    await row({ kind: "evidence", ...quoteOf(card), verdict: "rejected", reason: reason.value },
      `rejected by you: ${REASONS[reason.value]}`, state);
  }, { "data-do": "r" });
  reason.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    reject.click();
  });
  card.append(element("div", { class: "judge", role: "group", "aria-label": "Your verdict" }, accept, reject, reason, state));
}

// Words that a person marked, beside the program's: whose, and where.
function marked(section, who, span) {
  const found = wordsAt(span);
  const turn = found?.turn.closest(".turn");
  const list = section.querySelector(".by-people") ?? element("ul", { class: "marked by-people", "aria-label": "Marked by people" });
  const place = element("a", { class: "place", href: `#${turn?.id}` }, turn?.querySelector(".number").ariaLabel.toLowerCase() ?? "");
  list.append(element("li", {}, `${who}: `, element("q", { dir: "auto" }, found?.words ?? ""), " ", place));
  section.querySelector(".rescore").before(list);
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
  const missed = control("Mark selected words as missed", async () => {
    const found = chosen();
    if (found.why) return say(found.why);
    const { start, end, words } = found;
    await row({ kind: "missed", item: section.dataset.item, start, end }, `missed: “${words}”`, element("span"));
    marked(section, "You, missed by the program", { start, end });
  }, { class: "small missed", "data-do": "m" });
  field.append(save);
  section.append(field, missed, state);
}

function remember({ kind, item, items, mine, rater, evidence, verdict, reason, score, span }) {
  const who = mine ? "You" : rater.split(":").pop();
  const section = sections.find((one) => one.dataset.item === item);
  if (kind === "committed") {
    for (const one of sections) for (const place of items[one.dataset.item]?.evidence ?? []) marked(one, who, place);
  } else if (kind === "missed" && section) {
    marked(section, `${who}, missed by the program`, span);
  } else if (kind === "evidence" && mine) {
    const state = section?.querySelectorAll(".card")[evidence]?.querySelector(".mine");
    if (state) state.textContent = verdict === "accepted" ? "accepted by you" : `rejected by you: ${REASONS[reason] ?? ""}`;
  } else if (kind === "score" && mine && section) {
    section.querySelector(":scope > .mine").textContent = `changed to ${score ?? "cannot tell"}`;
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
  if (word.value.trim().toLowerCase() !== "erase") {
    word.focus();
    return say("Type the word erase first.");
  }
  const { what } = button.dataset;
  await call("DELETE", what === "subject" ? `/v1/subjects/${button.dataset.subject}` : `/v1/assessments/${id}`);
  window.location.assign(url(`/?erased=${button.dataset.count ?? 1}`));
}

for (const button of document.querySelectorAll("[data-what]")) {
  button.addEventListener("click", () => doing(button, () => erase(button)));
}

const table = { "Ctrl+Enter": () => window.location.assign(next) };
if (phase === "revealed") {
  cards.forEach(judge);
  sections.forEach(rescore);
  Object.assign(table, reading, {
    a: () => press(current(), "a"),
    r: () => press(current(), "r"),
    m: () => press(itemNow(), "m"),
  });
  sections.forEach((section, at) => {
    table[`Shift+${at + 1}`] = () => section.querySelector(".rescore input").focus();
  });
  for (const value of ["0", "1", "2", "3", "u"]) table[`score ${value}`] = () => score(value);
  call("GET", path).then(({ content }) => content.rows?.forEach(remember)).catch(fail);
} else if (phase) {
  table.v = () => document.getElementById("rate").click();
}
listen(table);
