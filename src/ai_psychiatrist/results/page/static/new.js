// Interviews that are pasted or chosen: who is who first, and then their assessments.

import { Problem, call, doing, element, exact, say, url } from "./api.js";

const TYPES = {
  vtt: "text/vtt",
  srt: "application/x-subrip",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  jsonl: "application/jsonl",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  txt: "text/plain",
  md: "text/plain",
};
const ROLES = ["", "participant", "interviewer", "other"];
// Answers that say nothing of the one file that was sent.
const OF_ALL = [0, 401, 403, 408, 429];

const $ = (id) => document.getElementById(id);
const [form, text, file, subject, speakers] = ["new", "text", "file", "subject", "speakers"].map($);

// The pasted one, or one for each file; `shown` is what was read of it, once it was asked for.
let interviews = [];
// The one whose speakers the table shows.
let asked = null;

$("file-field").hidden = false;
text.addEventListener("input", () => file.files.length || chosen());
file.addEventListener("input", chosen);
for (const name of ["dragover", "drop"]) document.addEventListener(name, dropped);
chosen();

function areSeveral() {
  return interviews.length > 1;
}

function chosen() {
  hideSpeakers();
  const files = [...file.files];
  interviews = files.length > 1 ? files.map(ofSeveral) : [{ file: files[0], subject }];
  $("files").hidden = !areSeveral();
  $("subject-field").hidden = areSeveral();
  $("files-list").replaceChildren(...interviews.flatMap(({ line }) => line ?? []));
}

function dropped(event) {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  if (event.type !== "drop" || !event.dataTransfer.files.length) return;
  file.files = event.dataTransfer.files;
  chosen();
}

function ofSeveral(one) {
  const id = element("input", { "aria-label": `Study id of ${one.name}`, maxlength: "200", autocomplete: "off", spellcheck: "false" });
  id.value = one.name.replace(/\.[^.]+$/, "");
  const state = element("td", {}, "not sent yet");
  const name = element("th", { scope: "row" }, element("bdi", {}, ...exact(one.name)));
  return { file: one, subject: id, state, line: element("tr", {}, name, element("td", {}, id), state) };
}

form.addEventListener("submit", (event) => {
  const { value } = event.submitter ?? {};
  if (value === "example") return;
  event.preventDefault();
  const button = $(value === "preview" ? "preview" : "assess");
  doing(button, value === "preview" ? preview : areSeveral() ? assessAll : assess);
});

async function preview() {
  const next = asked ?? interviews.find((one) => !one.isSent) ?? interviews[0];
  await read(next);
  ask(next);
}

async function assess() {
  const [one] = interviews;
  const id = await sent(one);
  if (id) window.location.assign(url(`/assessments/${id}`));
}

async function assessAll() {
  // The one that is asked about goes first: what was chosen stands in the table.
  for (const one of [asked, ...interviews].filter((one) => one && !one.isSent)) {
    if (one.isSent) continue;
    try {
      const id = await sent(one);
      if (!id) return;
      one.isSent = true;
      one.subject.disabled = true;
      one.state.replaceChildren(element("a", { href: url(`/assessments/${id}`) }, "sent"));
    } catch (problem) {
      // What is wrong with one file keeps no other back.
      if (!(problem instanceof Problem) || OF_ALL.includes(problem.status) || problem.status >= 500) throw problem;
      one.state.replaceChildren(element("span", { class: "not-read" }, problem.message));
    }
    hideSpeakers();
  }
  const count = interviews.filter((one) => one.isSent).length;
  say(`${count} of ${interviews.length} interviews are sent.`);
  $("files-sent").hidden = false;
}

// Sends an interview and returns its id; nothing where a person has to say more first.
async function sent(one) {
  await read(one);
  const { shown } = one;
  const isOpen = shown.is_open || shown.speakers_assumed;
  if (asked !== one && (isOpen || !areSeveral())) ask(one);
  if (shown.speakers_assumed && !one.isToldOfNobody) {
    one.isToldOfNobody = true;
    return sayOf(one, "No line says who speaks. Press Assess again if all of it is the participant’s.");
  }
  const roles = asked === one ? chosenRoles(shown) : {};
  if (shown.is_open && !Object.values(roles).includes("participant")) {
    sayOf(one, "Choose who the participant is.");
    return speakers.querySelector("select")?.focus();
  }
  if (!areSeveral()) say("Sending the interview.");
  const [body, headers] = parts(one, roles, one.subject.value.trim());
  const { content } = await call("POST", "/v1/assessments" + query(one, roles), body, { ...headers, Prefer: "respond-async" });
  return content.job_id;
}

const sayOf = (one, words) => say(areSeveral() ? `${one.file.name}: ${words}` : words);

async function read(one) {
  refuseEmpty(one);
  one.shown ??= (await call("POST", "/v1/transcripts/preview", ...parts(one, {}, ""))).content;
}

function refuseEmpty({ file: given }) {
  if (given ? given.size : text.value.trim()) return;
  (given ? file : text).focus();
  throw new Problem({ detail: given ? "This file is empty: choose another." : "There is no interview yet: paste its text, or choose a file." }, 422);
}

function parts({ file: given }, roles, studyId) {
  if (given) {
    const type = TYPES[given.name.split(".").pop().toLowerCase()] ?? "application/octet-stream";
    return [given, { "Content-Type": type, ...(studyId && { "X-Subject": encodeURIComponent(studyId) }) }];
  }
  const whole = { transcript_text: text.value };
  if (Object.keys(roles).length) whole.speakers = roles;
  if (studyId) whole.subject = studyId;
  return [whole, {}];
}

function query({ file: given }, roles) {
  if (!given) return "";
  const said = new URLSearchParams();
  for (const [label, role] of Object.entries(roles)) if (role !== "other") said.append(role, label);
  return said.size ? `?${said}` : "";
}

function chosenRoles({ is_open }) {
  const selects = [...speakers.querySelectorAll("select")];
  if (!is_open && selects.every((one) => one.value === one.dataset.was)) return {};
  return Object.fromEntries(selects.filter((one) => one.value).map((one) => [one.dataset.label, one.value]));
}

function hideSpeakers() {
  asked = null;
  $("who").hidden = true;
}

function ask(one) {
  asked = one;
  speakers.replaceChildren(...one.shown.speakers.map((said) => row(said, one.shown)));
  $("who-title").replaceChildren(...(areSeveral() ? ["Who is who in ", element("bdi", {}, ...exact(one.file.name)), "?"] : ["Who is who?"]));
  $("who-note").textContent = noteOf(one.shown);
  $("who").hidden = false;
  $("who-title").focus();
}

function noteOf({ is_open, speakers_assumed, turns }) {
  if (is_open) return "Nobody has said which label is the participant’s. Choose below, then assess.";
  if (speakers_assumed) return "No line says who speaks: all words count as the participant’s. Words of an interviewer would count as well; "
    + "if there are any, begin each line with who speaks, such as “Interviewer:” and “Participant:”.";
  return `${turns} ${turns === 1 ? "turn was" : "turns were"} read. Change what is not right, then assess.`;
}

function row({ label, role, turns, said }, { speakers_assumed }) {
  const who = label === "*" ? "All words" : label ?? "no label";
  const cell = element("td");
  if (label === null) cell.append(speakers_assumed ? "participant, as assumed" : "nobody’s: never evidence");
  else {
    const select = element("select", { "aria-label": `${who} is the`, "data-was": role ?? "" });
    select.dataset.label = label;
    for (const one of ROLES) select.append(element("option", { value: one }, one || "choose"));
    select.value = role ?? "";
    cell.append(select);
  }
  return element(
    "tr", {}, element("th", { scope: "row" }, element("bdi", {}, ...exact(who))), cell,
    element("td", {}, String(turns)), element("td", { dir: "auto" }, ...exact(said.join(" … "))),
  );
}
