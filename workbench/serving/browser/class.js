// Runs before textual.js opens the terminal, which it does when all is loaded.
"use strict";

const byId = (id) => document.getElementById(id);

byId("terminal").dataset.sessionWebsocketUrl = location.origin.replace(/^http/, "ws") + "/ws";
byId("again").addEventListener("click", () => location.reload());

// Why it was closed, in the words of the numbers that the server gives.
const WHY = {
  1000: "You have left. Your files are kept for a while: go on where you were.",
  1008: "Something arrived that this page does not send. Your files are kept: go on where you were.",
  1009: "That was more than can be pasted at once (1 MB). Your files are kept: go on where you were.",
  4001: "You have opened it in another page, which goes on.",
  4002: "Nothing was done here for a long time. Your files are kept for a while: go on where you were.",
  4003: "The class is over.",
};
const focusTerminal = () => document.querySelector(".xterm-helper-textarea").focus();
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...given) {
    super(...given);
    this.addEventListener("open", focusTerminal);
    this.addEventListener("close", (event) => {
      if (WHY[event.code]) byId("why").textContent = WHY[event.code];
      byId("again").hidden = event.code === 4003;
      setTimeout(() => byId("again").focus(), 0); // textual.js shows it first
    });
  }
};

// A file is kept, and needs no page of its own, which a browser might not let us open.
const openPage = window.open.bind(window);
window.open = (address, ...more) => {
  if (!String(address).startsWith(location.origin + "/download/")) return openPage(address, ...more);
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
  return null;
};

// Over http a browser gives a page no clipboard: what is copied is shown, marked, for ctrl+c.
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
