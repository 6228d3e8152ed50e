// The page for the person of an interview. Nothing of it is kept in the browser: an answer that is
// on its way is held here until the server has it, and is sent again under the same key.

const { root } = document.documentElement.dataset;
const LONGEST_WAIT = 30_000;
const LONGEST_ANSWER = 120_000;
const CUT_SHORT = ["preparing", "digesting"];
const OVER = ["reporting", "done", "safety_hold"];
const CALLABLE = /(?<![\w/:.])(?:\+?\d[\d ()-]{4,}\d|11\d|911|988|999|000)(?![\w/:])/g;
const NOTICE = 5_000;
const FIRST_LOOK = 5_000;
const LONGEST_LOOK = 300_000;
const $ = (id) => document.getElementById(id);

let current = null;
let isBusy = false;
let isOpen = false;
const typed = [];
let wake = () => {};
let nextLook = null;

const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
const say = (words) => { $("status").textContent = words; };
// Said once, and gone: the place in the interview stands above as well.
function tell(words) {
  say(words);
  setTimeout(() => { if ($("status").textContent === words) say(""); }, NOTICE);
}
const text = (name) => current?.texts[name] ?? "";

function trouble(words, hasButton = false) {
  $("trouble").hidden = !words;
  $("trouble-text").textContent = words;
  $("again").hidden = !hasButton;
  $("unreached").hidden = true;
}

// Before it is known in which language the interview is, all of them say it.
function unreached() {
  trouble(text("offline"), Boolean(current));
  $("trouble").hidden = false;
  $("unreached").hidden = Boolean(current);
  say("");
}

// Sends until there is an answer; what the server has taken already counts once, by its key.
async function request(method, path, body) {
  for (let wait = 1000; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
    const answer = await once(method, path, body);
    if (answer && answer.status !== 429 && answer.status < 500) {
      trouble("");
      return answer;
    }
    unreached();
    await waiting(Math.max(wait, 1000 * (answer?.after ?? 0)));
  }
}

async function once(method, path, body) {
  const sent = { method, cache: "no-store", signal: AbortSignal.timeout(LONGEST_ANSWER) };
  if (body) Object.assign(sent, { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  try {
    const answer = await fetch(`${root}/interview/${path}`, sent);
    const content = answer.status === 204 ? null : await answer.json();
    return { status: answer.status, content, after: Number(answer.headers.get("Retry-After")) };
  } catch {
    return null;
  }
}

// Until it is time, the connection is back, or the person presses the button.
const waiting = (milliseconds) => new Promise((resolve) => {
  wake = resolve;
  setTimeout(resolve, milliseconds);
});

// Shows what the page says in all languages, and nothing else.
function only(id) {
  for (const one of document.querySelectorAll("main > *, #tools, #progress")) one.hidden = one.id !== id;
  $(id).focus();
}

function refuse() {
  current = null;
  clearTimeout(nextLook);
  say("");
  only("refused");
}

// Words that are typed in pieces are one answer: what follows soon is sent beside what waits.
async function send(wish) {
  if (!current || (isBusy && !(wish.append && isOpen))) return;
  const body = { question_id: current.question?.id ?? "", version: current.version, idempotency_key: randomKey(), ...wish };
  if (wish.append) {
    typed.push(wish.text);
    $("words").value = "";
    $("sent").append(element("li", { class: "own", dir: "auto" }, wish.text));
    $("sent").hidden = false;
  }
  if (isBusy) {
    await request("POST", "answers", body);
    return;
  }
  isBusy = true;
  isOpen = Boolean(wish.append);
  document.body.setAttribute("aria-busy", "true");
  say(text(wish.append ? "received" : "sending"));
  const { status, content } = await request("POST", "answers", body);
  const words = typed.splice(0);
  isBusy = false;
  document.body.removeAttribute("aria-busy");
  $("sent").replaceChildren();
  $("sent").hidden = true;
  say("");
  if (status === 200) {
    show(content);
  } else if (status === 410) {
    refuse();
  } else {
    // It was answered elsewhere meanwhile, or in a way that is not taken: the words stay.
    $("words").value = [...words, $("words").value].filter(Boolean).join("\n");
    await load();
    if (status === 422) trouble(text("not_taken"));
  }
}

async function load() {
  const { status, content } = await request("GET", "state");
  if (status === 200) show(content);
  else if (status === 410) refuse();
  else if (current) trouble(text("failed"));
  else only("failed");
}

// An operator may let a held interview go on, or delete any: the page looks for that while it is
// seen, at growing intervals, and whenever it is looked at again.
function lookAgain(wait = current?.state === "safety_hold" ? FIRST_LOOK : LONGEST_LOOK / 5) {
  clearTimeout(nextLook);
  if (!current) return;
  nextLook = setTimeout(() => look(Math.min(wait * 1.5, LONGEST_LOOK)), wait);
}

async function look(wait) {
  if (!current) return;
  const answer = document.hidden || isBusy ? null : await once("GET", "state");
  const isHeld = current?.state === "safety_hold" && !isBusy && answer?.status === 200;
  if (current && answer?.status === 410) refuse();
  else if (isHeld && answer.content.version !== current.version) show(answer.content);
  else lookAgain(wait);
}

function show(state) {
  const before = current;
  const { question, progress, texts } = current = state;
  document.documentElement.lang = texts.language;
  document.title = texts.title;
  for (const one of document.querySelectorAll("[data-text]")) one.textContent = texts[one.dataset.text];
  $("loading").hidden = true;
  const isOver = OVER.includes(state.state) && !question;
  const isCutShort = CUT_SHORT.includes(state.state);
  const waits = isOver ? "" : state.state === "paused" ? texts.paused : isCutShort ? texts.loading : question ? "" : texts.failed;
  $("progress").textContent = progress && state.state !== "safety_hold" ? texts.progress.replace("{number}", progress.number).replace("{of}", progress.of) : "";
  $("tools").hidden = isOver;
  // After danger the help is said at the top already.
  $("help").hidden = !waits && state.state === "safety_hold" && state.spoken.includes(state.help);
  $("pause").hidden = state.state !== "awaiting";
  $("stop").hidden = isCutShort;
  fill($("over"), isOver ? (state.state === "safety_hold" ? texts.held : texts.over) : "");
  // Set aside, the page says by itself how to go on.
  fillCallable($("spoken"), waits ? "" : state.spoken);
  $("spoken").dataset.state = state.state;
  showWaiting(waits, state);
  if (waits || !question) $("asking").hidden = true;
  else ask(question);
  showChangeable(isOver ? [] : state.changeable);
  if (isOver) $("earlier").open = false;
  showEarlier(state.messages);
  // What is said after an answer is read before the question: help above all.
  const isAnswered = state.messages.some((one) => one.speaker === "participant");
  if (!waits && (!question || (state.spoken && isAnswered))) $("spoken").focus({ preventScroll: true });
  // What is new stands at the top.
  scrollTo(0, 0);
  // It goes back to a question, or on after a pause: to which one is announced.
  const isElsewhere = before?.state === "paused" || before?.progress?.number > progress?.number;
  if (isElsewhere && question && !waits) tell($("progress").textContent);
  // The page was loaded again, or the server started anew, before the answer was worked in.
  if (isCutShort) send({ retry: true });
  lookAgain();
}

function fill(place, words) {
  place.textContent = words;
  place.hidden = !words;
}

// Numbers to call can be touched.
function fillCallable(place, words) {
  fill(place, "");
  let end = 0;
  for (const { 0: number, index } of words.matchAll(CALLABLE)) {
    place.append(words.slice(end, index), element("a", { href: `tel:${number.replace(/[^\d+]/g, "")}` }, number));
    end = index + number.length;
  }
  place.append(words.slice(end));
  place.hidden = !words;
}

function ask(question) {
  $("asking").hidden = false;
  $("question").textContent = question.text;
  showNoted(question);
  $("options").replaceChildren(...question.options.map((option) => {
    const button = element("button", { type: "button", "data-kind": option.kind, dir: "auto" }, option.text);
    button.addEventListener("click", () => send({ option_id: option.id }));
    return button;
  }));
  $("free").hidden = !question.allows_free_text;
  // Where nothing can be chosen there is no other way to answer, and the question is the name.
  $("own-words").hidden = !question.options.length;
  $("words").setAttribute("aria-labelledby", question.options.length ? "own-words" : "question");
  $("words").maxLength = question.most_characters;
  $("question").focus({ preventScroll: true });
}

// What was noted, line by line, each with a way to change it.
function showNoted({ noted, closing }) {
  $("noted").hidden = noted.length === 0;
  $("noted").replaceChildren(...noted.map((one, number) => {
    const id = `noted-${number}`;
    const button = element("button", { type: "button", "aria-describedby": id }, text("change_one"));
    button.addEventListener("click", () => send({ option_id: one.option_id }));
    const own = one.words && one.words !== one.noted ? [element("p", { dir: "auto" }, `${text("you")}: “${one.words}”`)] : [];
    return element("li", {}, element("div", {},
      element("p", { id, class: "name", dir: "auto" }, one.name), ...own,
      element("p", { dir: "auto" }, `${text("noted")}: ${one.noted}`)), button);
  }));
  fill($("closing"), closing);
}

function showWaiting(words, state) {
  $("waiting").hidden = !words;
  $("waiting-text").textContent = words;
  $("go-on").textContent = state.state === "paused" ? state.texts.go_on : state.texts.again;
  $("go-on").hidden = state.state !== "paused" && !(state.state === "failed" && state.can_retry);
  if (words) $("waiting-text").focus({ preventScroll: true });
}

function showChangeable(items) {
  $("changes").hidden = items.length === 0;
  $("changes").open = false;
  $("changes").querySelector("ul").replaceChildren(...items.map((one) => {
    const id = `change-${one.item}`;
    const button = element("button", { type: "button", "aria-describedby": id }, text("change_one"));
    button.addEventListener("click", () => send({ change: one.item }));
    const noted = one.noted && one.noted !== one.words ? [element("p", { dir: "auto" }, `${text("noted")}: ${one.noted}`)] : [];
    return element("li", {}, element("p", { id, class: "who", dir: "auto" }, one.question), element("p", { dir: "auto" }, one.words), ...noted, button);
  }));
}

// What was said after the last answer stands above, with the question.
function showEarlier(said) {
  const messages = said.slice(0, said.findLastIndex((one) => one.speaker === "participant") + 1);
  $("earlier").hidden = messages.length === 0;
  $("earlier").querySelector("ol").replaceChildren(...messages.map((one) => {
    const isOwn = one.speaker === "participant";
    const who = isOwn ? [element("p", { class: "who" }, text("you"))] : [];
    return element("li", { class: isOwn ? "own" : "" }, ...who, element("p", { dir: "auto" }, one.text));
  }));
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

$("free").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = $("words").value;
  if (words.trim()) send({ text: words, append: true });
  else $("words").focus();
});
$("pause").addEventListener("click", () => send({ pause: true }));
$("go-on").addEventListener("click", () => {
  // A question that was set aside still waits: its answer takes the interview up again.
  if (current.question) show({ ...current, state: "awaiting", spoken: "" });
  else send({ retry: true });
});
$("stop").addEventListener("click", () => $("sure").showModal());
$("sure-no").addEventListener("click", () => $("sure").close());
$("sure-yes").addEventListener("click", () => {
  $("sure").close();
  send({ stop: true });
});
$("again").addEventListener("click", () => wake());
addEventListener("online", () => wake());
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
addEventListener("focus", () => look());
addEventListener("beforeunload", (event) => {
  if (isBusy || $("words").value.trim()) event.preventDefault();
});

async function open() {
  const token = window.location.hash.slice(1);
  if (token) {
    const { status } = await request("POST", "session", { token, idempotency_key: randomKey() });
    // Out of the address as soon as it is used up, before anything is shown.
    window.history.replaceState(null, "", window.location.pathname);
    if (status >= 400) return refuse();
  }
  await load();
}

fillCallable($("help-text"), $("help-text").textContent);
open();
