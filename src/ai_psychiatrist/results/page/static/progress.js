// What an assessment does while it runs, as the server tells it: each step once, with its time.

import { say, url } from "./api.js";

const { id } = document.getElementById("progress").dataset;
const stages = document.getElementById("stages");
const events = new EventSource(url(`/v1/jobs/${id}/events`));

function told(event) {
  const { stage, outcome } = JSON.parse(event.data);
  const line = stages.querySelector(`[data-stage="${CSS.escape(stage)}"]`);
  // What came before the page was loaded is there, with the time of the server.
  if (!line || outcome === "waiting" || line.dataset.outcome) return;
  line.dataset.outcome = outcome;
  line.querySelector("time").textContent = `${new Date().toISOString().slice(0, 19).replace("T", " ")} UTC`;
  say(line.querySelector("span").textContent);
}

function ended() {
  events.close();
  window.location.reload();
}

events.addEventListener("stage", told);
events.addEventListener("end", ended);
