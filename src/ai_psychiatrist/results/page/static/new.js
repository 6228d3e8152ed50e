// A transcript that is pasted or chosen: who is who first, and then the assessment.

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

const form = document.getElementById("new");
const [text, file, subject] = ["text", "file", "subject"].map((id) => document.getElementById(id));
const speakers = document.getElementById("speakers");
let shown = null;
let isToldOfNobody = false;

document.getElementById("file-field").hidden = false;
for (const field of [text, file]) field.addEventListener("input", changedText);

function changedText() {
  shown = null;
  isToldOfNobody = false;
  document.getElementById("who").hidden = true;
}

form.addEventListener("submit", (event) => {
  const { value } = event.submitter ?? {};
  if (value === "example") return;
  event.preventDefault();
  const button = document.getElementById(value === "preview" ? "preview" : "assess");
  doing(button, value === "preview" ? preview : assess);
});

async function preview() {
  refuseEmpty();
  const { content } = await call("POST", "/v1/transcripts/preview", ...body({}));
  show(content);
}

async function assess() {
  if (!shown) {
    await preview();
    if (!shown) return;
  }
  if (shown.speakers_assumed && !isToldOfNobody) {
    isToldOfNobody = true;
    return say("No line says who speaks. Press Assess again if all of it is the participant’s.");
  }
  const roles = chosen();
  if (!Object.values(roles).includes("participant") && isOpen()) {
    say("Choose who the participant is.");
    speakers.querySelector("select")?.focus();
    return;
  }
  say("Sending the interview.");
  const [sent, headers] = body(roles);
  const { content } = await call("POST", "/v1/assessments" + query(roles), sent, {
    ...headers,
    Prefer: "respond-async",
  });
  const id = content.job_id;
  window.location.assign(url(`/assessments/${id}`));
}

function refuseEmpty() {
  const sent = chosenFile();
  if (sent ? sent.size : text.value.trim()) return;
  (sent ? file : text).focus();
  throw new Problem({ detail: sent ? "This file is empty: choose another." : "There is no interview yet: paste its text, or choose a file." }, 422);
}

const chosenFile = () => file.files[0];
const isOpen = () => shown.is_open;

function body(roles) {
  const sent = chosenFile();
  if (sent) {
    const type = TYPES[sent.name.split(".").pop().toLowerCase()] ?? "application/octet-stream";
    return [sent, { "Content-Type": type, ...named() }];
  }
  const whole = { transcript_text: text.value };
  if (Object.keys(roles).length) whole.speakers = roles;
  if (shown && subject.value.trim()) whole.subject = subject.value.trim();
  return [whole, {}];
}

const named = () => (shown && subject.value.trim() ? { "X-Subject": encodeURIComponent(subject.value.trim()) } : {});

function query(roles) {
  if (!chosenFile()) return "";
  const said = new URLSearchParams();
  for (const [label, role] of Object.entries(roles)) if (role !== "other") said.append(role, label);
  return said.size ? `?${said}` : "";
}

function chosen() {
  const roles = {};
  for (const select of speakers.querySelectorAll("select")) {
    const isChanged = isOpen() || select.value !== select.dataset.was;
    if (select.value && (isChanged || changed())) roles[select.dataset.label] = select.value;
  }
  return roles;
}

const changed = () => [...speakers.querySelectorAll("select")].some((one) => one.value !== one.dataset.was);

function show(preview) {
  shown = preview;
  speakers.replaceChildren(...preview.speakers.map(row));
  document.getElementById("who-note").textContent = noteOf(preview);
  document.getElementById("who").hidden = false;
  document.getElementById("who-title").focus();
}

function noteOf({ is_open, speakers_assumed, turns }) {
  if (is_open) return "Nobody has said which label is the participant’s. Choose below, then assess.";
  if (speakers_assumed) return "No line says who speaks: all words count as the participant’s. Words of an interviewer would count as well; "
    + "if there are any, begin each line with who speaks, such as “Interviewer:” and “Participant:”.";
  return `${turns} ${turns === 1 ? "turn was" : "turns were"} read. Change what is not right, then assess.`;
}

function row({ label, role, turns, said }) {
  const who = label === "*" ? "All words" : label ?? "no label";
  const cell = element("td");
  if (label === null) cell.append(shown.speakers_assumed ? "participant, as assumed" : "nobody’s: never evidence");
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
