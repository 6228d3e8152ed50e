// Calls of the interface, and the two places where the page says how they went.

const { root, who } = document.documentElement.dataset;
let { csrf } = document.documentElement.dataset;

export const url = (path) => root + path;

export class Problem extends Error {
  constructor(body, status) {
    super(sentence(body.detail ?? "The server gave no reason; try again."));
    this.body = body;
    this.status = status;
  }
}

const sentence = (words) => words[0].toUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? "" : ".");
const RELOAD = "Another person is logged in by now in this browser. Load the page again to go on as that person.";

export async function call(method, path, body, headers = {}) {
  try {
    return await sent(method, path, body, headers);
  } catch (problem) {
    if (problem.body?.code !== "csrf_token_wrong") throw problem;
    // Somebody has logged in since the page was loaded; the same person goes on.
    const { content } = await sent("GET", "/v1/session");
    if (content.name !== who) throw new Problem({ detail: RELOAD }, 403);
    csrf = content.csrf ?? "";
    return sent(method, path, body, headers);
  }
}

async function sent(method, path, body, headers = {}) {
  const all = { "X-CSRF-Token": csrf, Accept: "application/json", ...headers };
  if (body !== undefined && !(body instanceof Blob)) {
    all["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(url(path), { method, headers: all, body });
  } catch {
    throw new Problem({ detail: "The server cannot be reached. What you entered is still here; try again." }, 0);
  }
  const content = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : {};
  if (!answer.ok) throw new Problem(content, answer.status);
  return { content, location: answer.headers.get("Location") };
}

let silence = 0;

const CORNERS = ["bottom left", "bottom right", "top right", "top left"];
const CONTROLS = "button, .button, input, select, textarea, summary, nav a";

// How many controls lie beneath an element.
function covered(place) {
  const box = place.getBoundingClientRect();
  return [...document.querySelectorAll(CONTROLS)].filter((one) => {
    const { left, right, top, bottom, width } = one.getBoundingClientRect();
    return width && left < box.right && right > box.left && top < box.bottom && bottom > box.top;
  }).length;
}

// Puts a notice into the first corner where it covers no control, or the fewest.
function settle(place) {
  const counts = CORNERS.map((corner) => {
    place.dataset.corner = corner;
    return covered(place);
  });
  place.dataset.corner = CORNERS[counts.indexOf(Math.min(...counts))];
}

export function say(words) {
  const place = document.getElementById("said");
  place.textContent = words;
  settle(place);
  clearTimeout(silence);
  silence = setTimeout(() => place.replaceChildren(), 8000);
}

export function fail(problem) {
  const place = document.getElementById("failed");
  const line = document.createElement("p");
  line.textContent = problem instanceof Problem ? problem.message : "The page failed here; load it again.";
  if (problem.status === 401) line.replaceChildren(...loginAgain());
  place.replaceChildren(line);
  place.scrollIntoView({ block: "nearest" });
  if (!(problem instanceof Problem)) throw problem;
}

function loginAgain() {
  const way = element("a", { href: url("/login"), target: "_blank" }, "Log in again in a new tab");
  return ["Your session has ended. ", way, ", then come back here and try again: what you entered is still here."];
}

export const clear = () => document.getElementById("failed").replaceChildren();

// Does one thing at a time with a button; what fails is told, and the button can be used again.
export async function doing(button, work) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  clear();
  try {
    await work();
  } catch (problem) {
    fail(problem);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const UNSEEN = /([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/u;

// A text in which characters that steer and are not seen stand by themselves, with their number.
export const exact = (text) => text.split(UNSEEN).map((part, at) => (at % 2 ? seen(part) : part));

const seen = (one) => element("span", {
  class: "unseen",
  "data-code": `U+${one.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`,
}, one);
