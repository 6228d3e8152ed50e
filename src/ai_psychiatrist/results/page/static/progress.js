// What an assessment does while it runs, as the server tells it.

import { say, url } from "./api.js";

const { id } = document.getElementById("progress").dataset;
const stages = document.getElementById("stages");
const events = new EventSource(url(`/v1/jobs/${id}/events`));

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

function ended() {
  events.close();
  window.location.reload();
}

events.addEventListener("stage", told);
events.addEventListener("end", ended);
