// What an assessment does while it runs, as the server tells it.

import { call, fail, say, url } from "./api.js";

const { id } = document.getElementById("progress").dataset;
const stages = document.getElementById("stages");
const events = new EventSource(url(`/v1/assessments/${id}/events`));

function told(event) {
  const { stage, outcome } = JSON.parse(event.data);
  if (!stage) return;
  const found = stages.querySelector(`[data-stage="${CSS.escape(stage)}"]`);
  const line = found ?? document.createElement("li");
  line.dataset.stage = stage;
  line.dataset.outcome = outcome;
  line.textContent = `${stage.replaceAll("_", " ")}: ${outcome.replaceAll("_", " ")}`;
  if (!found) stages.append(line);
  say(line.textContent);
}

async function ended() {
  events.close();
  try {
    await call("GET", `/v1/assessments/${id}/status`);
  } catch (problem) {
    fail(problem);
  }
  window.location.reload();
}

for (const name of ["message", "stage"]) events.addEventListener(name, told);
for (const name of ["finished", "failed", "ended"]) events.addEventListener(name, ended);
