// A second click while the first is under way would drop its answer, and with it the cookie of the seat.
"use strict";

const PATIENCE = 10_000; // milliseconds
const sent = new WeakMap();
document.addEventListener("submit", (event) => {
  if (event.timeStamp - (sent.get(event.target) ?? -PATIENCE) < PATIENCE) event.preventDefault();
  else sent.set(event.target, event.timeStamp);
});
