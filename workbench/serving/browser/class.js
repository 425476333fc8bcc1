// Runs before textual.js opens the terminal, which it does when all is loaded.
"use strict";

const byId = (id) => document.getElementById(id);

byId("terminal").dataset.sessionWebsocketUrl = location.origin.replace(/^http/, "ws") + "/ws";
byId("again").addEventListener("click", () => location.reload());

// Why it was closed, by the numbers that the server gives.
const WHY = {
  1000: "You have left. Your files are kept for a while.",
  1008: "The server received a message that this page does not send. Your files are kept.",
  1009: "Too much text at once: 1 MB can be pasted. Your files are kept.",
  4001: "Opened in another tab; continue there.",
  4002: "Closed because nothing was done here for a long time. Your files are kept for a while.",
  4003: "The class is over.",
  4004: "The teacher removed your seat. To return, join again with the code that the teacher shows.",
};
const isTouched = matchMedia("(pointer: coarse)").matches;
const focusTerminal = () => isTouched || document.querySelector(".xterm-helper-textarea").focus(); // no keyboard unasked
let send = () => {};
let size = { width: 80, height: 24 };
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...given) {
    super(...given);
    send = (...message) => this.readyState === Socket.OPEN && super.send(JSON.stringify(message));
    this.addEventListener("open", focusTerminal);
    this.addEventListener("message", (event) => {
      const [kind, content] = typeof event.data === "string" ? JSON.parse(event.data) : [];
      if (kind === "controls") showControls(content);
    });
    this.addEventListener("close", (event) => {
      if (WHY[event.code]) byId("why").textContent = WHY[event.code];
      byId("again").hidden = event.code === 4003;
      setTimeout(() => byId("again").focus(), 0); // textual.js shows it first
    });
  }
  send(message) {
    const [kind, content] = JSON.parse(message);
    if (kind === "resize") size = content;
    super.send(message);
  }
};

// The terminal is opened once its font is there, or its cells would be measured with another one. Whatever changes the
// room is followed by a second look, when cells of another zoom have been measured too.
const openTerminal = window.onload;
const fontSize = byId("terminal").dataset.fontSize;
const fonts = ["", "bold ", "italic "].map((one) => document.fonts.load(`${one}${fontSize}px "Roboto Mono"`));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
window.onload = (event) => Promise.race([Promise.allSettled(fonts), wait(5000)]).then(() => openTerminal(event));
const fit = () => window.onresize && window.onresize(); // set by textual.js
const fitAgain = () => [0, 50, 300].forEach((ms) => setTimeout(fit, ms));
new ResizeObserver(fitAgain).observe(byId("terminal"));
for (const [target, name] of [
  [window, "resize"],
  [window, "orientationchange"],
  [document, "fullscreenchange"],
  [document.fonts, "loadingdone"],
])
  target.addEventListener(name, fitAgain);

// The lesson's steps and the teacher, as buttons; a swipe to the side is Back or Next, one up or down scrolls.
let isLesson = false;
function press(button, step = 0) {
  send("press", button, step);
  focusTerminal();
}
function showControls({ steps, step, teacher }) {
  isLesson = steps.length > 0;
  document.body.classList.toggle("-lesson", isLesson);
  document.body.classList.toggle("-teacher", teacher !== "");
  byId("lesson").textContent = isLesson ? "Close" : "Lesson";
  byId("follow").textContent = teacher;
  byId("back").disabled = step === 0;
  byId("next").disabled = step + 1 >= steps.length;
  const made = steps.map((title, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = index + 1;
    button.title = title;
    button.setAttribute("aria-label", `Step ${index + 1}: ${title}`);
    if (index === step) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => press("step", index));
    return button;
  });
  byId("steps").replaceChildren(...made);
  if (isLesson) made[step].scrollIntoView({ block: "nearest", inline: "center" });
}
for (const name of ["back", "next", "lesson", "follow"]) byId(name).addEventListener("click", () => press(name));
byId("board")?.addEventListener("click", focusTerminal); // its page opens in another tab; keys here go on to the app

const SWIPE = 60;
const ROW = 24; // pixels of a finger's way that scroll a row
let from = null;
let scrolled = 0;
byId("terminal").addEventListener("touchstart", (event) => {
  from = event.touches.length === 1 ? event.touches[0] : null;
  scrolled = 0;
});
byId("terminal").addEventListener(
  "touchmove",
  (event) => {
    if (!from) return;
    event.preventDefault(); // the page itself does not scroll
    const box = byId("terminal").getBoundingClientRect();
    const cell = (at, start, length, count) => Math.max(1, Math.ceil(((at - start) / length) * count));
    const place = `${cell(from.clientX, box.x, box.width, size.width)};${cell(from.clientY, box.y, box.height, size.height)}`;
    const rows = Math.trunc((from.clientY - event.touches[0].clientY) / ROW);
    for (; scrolled < rows; scrolled++) send("stdin", `\x1b[<65;${place}M`);
    for (; scrolled > rows; scrolled--) send("stdin", `\x1b[<64;${place}M`);
  },
  { passive: false },
);
byId("terminal").addEventListener("touchend", (event) => {
  const { clientX, clientY } = event.changedTouches[0];
  const [across, along] = from ? [clientX - from.clientX, clientY - from.clientY] : [0, 0];
  if (isLesson && Math.abs(across) > SWIPE && Math.abs(across) > 2 * Math.abs(along)) press(across < 0 ? "next" : "back");
  from = null;
});

// A download needs no page of its own, which a browser might not let us open.
const openPage = window.open.bind(window);
window.open = (address, ...more) => {
  if (!String(address).startsWith(location.origin + "/download/")) return openPage(address, ...more);
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
  return null;
};

// Over http a browser gives a page no clipboard: the copied text is shown, selected, for ctrl+c.
const copied = byId("copied");
function closeCopied() {
  copied.classList.remove("-open");
  focusTerminal();
}
function showCopied(text) {
  copied.classList.add("-open");
  byId("copied-text").value = text;
  byId("copied-text").focus();
  byId("copied-text").select();
}
byId("copied-close").addEventListener("click", closeCopied);
copied.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeCopied();
});
copied.addEventListener("copy", () => setTimeout(closeCopied, 0));
if (!navigator.clipboard) {
  Object.defineProperty(navigator, "clipboard", {
    value: { writeText: async (text) => showCopied(text), readText: async () => "" },
  });
} else {
  const write = navigator.clipboard.writeText.bind(navigator.clipboard);
  navigator.clipboard.writeText = (text) => write(text).catch(() => showCopied(text));
}
