// Gold scores where raters differ, each with its reason.

import { Problem, call, doing, element, url } from "./api.js";

const form = document.getElementById("adjudicate");
const { id } = form.dataset;

function refuse(field, input, words) {
  const line = element("p", { class: "warning", id: "missing" }, words);
  field.querySelector(".scores").after(line);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", "missing");
  input.focus();
  throw new Problem({ detail: `Nothing was saved. ${words}` }, 422);
}

function forgetRefusal() {
  document.getElementById("missing")?.remove();
  const input = form.querySelector("[aria-invalid]");
  for (const name of ["aria-invalid", "aria-describedby"]) input?.removeAttribute(name);
}

async function save() {
  forgetRefusal();
  const items = {};
  for (const field of form.querySelectorAll("[data-item]")) {
    const [select, input] = ["select", "input"].map((name) => field.querySelector(name));
    const { value } = select;
    const reason = input.value.trim();
    const { label } = field.dataset;
    if (!value && field.querySelector("legend .differs")) refuse(field, select, `${label}: choose a gold score, and say why.`);
    if (value && !reason) refuse(field, input, `${label}: say why, in the field Reason.`);
    const cannotTell = value === "u";
    if (value) items[field.dataset.item] = { score: cannotTell ? null : Number(value), cannot_tell: cannotTell, reason };
  }
  await call("POST", `/v1/assessments/${id}/review/gold`, { items });
  window.location.assign(url(`/assessments/${id}/adjudicate?saved=1`));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  doing(document.getElementById("save"), save);
});
