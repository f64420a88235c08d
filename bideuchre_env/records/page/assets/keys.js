// Keys of a page, with a switch to turn them off: speech and shaky hands type letters unawares.
bideuchre.Keys = class {
  // `button` is the switch; `press(event)` says whether a key has done something.
  constructor(button, press) {
    const name = "bideuchre-keys";
    this.on = true;
    try {
      this.on = localStorage.getItem(name) !== "off";
    } catch { /* a frame that may keep nothing */ }
    const draw = () => button.setAttribute("aria-pressed", String(this.on));
    button.addEventListener("click", () => {
      this.on = !this.on;
      draw();
      try {
        localStorage.setItem(name, this.on ? "on" : "off");
      } catch { /* it holds until the page is closed */ }
    });
    document.addEventListener("keydown", (event) => {
      const combined = event.altKey || event.ctrlKey || event.metaKey;
      if (!this.on || combined || event.defaultPrevented) return;
      // whatever is typed into or moved by keys has its own use for them
      if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
      if (press(event)) event.preventDefault();
    });
    draw();
  }
};
