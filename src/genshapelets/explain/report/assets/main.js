// Start, and keep up with theme, size and print.
function showTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute(
    "aria-label",
    isDark() ? "Change to light colours" : "Change to dark colours",
  );
}
function themed() {
  showTheme();
  redraw();
  mark(state.marked);
}
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  themed();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);

function print(now) {
  if (printing === now) return;
  printing = now;
  document.documentElement.classList.toggle("printing", now);
  document.querySelectorAll("details").forEach((part) => {
    if (now) part.dataset.open = part.open;
    part.open = now || part.dataset.open === "true";
  });
  themed();
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (media) => print(media.matches));
let waiting;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(redraw, 120);
});

overview();
looks();
why();
showTheme();
