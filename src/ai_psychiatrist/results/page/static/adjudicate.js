// Gold scores where raters differ, each with its reason.

import { call, doing, url } from "./api.js";

const form = document.getElementById("adjudicate");
const { id } = form.dataset;

async function save() {
  const items = {};
  for (const field of form.querySelectorAll("[data-item]")) {
    const { value } = field.querySelector("select");
    const reason = field.querySelector("input").value.trim();
    const cannotTell = value === "u";
    if (value) items[field.dataset.item] = { score: cannotTell ? null : Number(value), cannot_tell: cannotTell, reason };
  }
  await call("POST", `/v1/assessments/${id}/review/gold`, { items });
  window.location.assign(url(`/assessments/${id}/adjudicate`));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  doing(document.getElementById("save"), save);
});
