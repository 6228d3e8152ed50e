// The page of an interview that goes on: loaded again as soon as there is more to be seen. With a
// new link it stays as it is, since the link is shown once.

import { url } from "./api.js";

const { path, shown } = document.getElementById("interview").dataset;
const EVERY_MILLISECONDS = 4000;

function offerCopy(link, copy) {
  copy.hidden = false;
  copy.addEventListener("click", () => {
    // Selected words can be copied without HTTPS as well.
    link.select();
    copy.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl-C";
  });
}

const follow = () => setInterval(async () => {
  try {
    const answer = await fetch(url(path));
    const now = await answer.json();
    if (answer.ok && now.shown !== shown) window.location.reload();
  } catch {
    // The server is away for a while; the next look comes by itself.
  }
}, EVERY_MILLISECONDS);

const link = document.getElementById("link");
if (link) offerCopy(link, document.getElementById("copy"));
else follow();
