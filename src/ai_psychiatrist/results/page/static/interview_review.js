// The page of an interview that goes on: loaded again as soon as there is more to be seen.

import { url } from "./api.js";

const { path, shown } = document.getElementById("interview").dataset;
const EVERY_MILLISECONDS = 4000;

setInterval(async () => {
  try {
    const answer = await fetch(url(path));
    const now = await answer.json();
    if (answer.ok && now.shown !== shown) window.location.reload();
  } catch {
    // The server is away for a while; the next look comes by itself.
  }
}, EVERY_MILLISECONDS);
