// A button that turns something on and off; the browser keeps its state.
bideuchre.Switch = class {
  // `changed(on)` is called for the first state and after each click.
  constructor(button, name, on, changed = () => {}) {
    const key = `bideuchre-${name}`;
    this.on = on;
    try {
      this.on = (localStorage.getItem(key) ?? (on ? "on" : "off")) === "on";
    } catch { /* a frame that may keep nothing */ }
    const draw = () => {
      button.setAttribute("aria-pressed", String(this.on));
      changed(this.on);
    };
    button.addEventListener("click", () => {
      this.on = !this.on;
      draw();
      try {
        localStorage.setItem(key, this.on ? "on" : "off");
      } catch { /* it holds until the page is closed */ }
    });
    draw();
  }
};

// Keys of a page, with a switch to turn them off: speech and shaky hands type letters unawares.
bideuchre.Keys = class {
  // `button` is the switch; `press(event)` says whether a key has done something.
  constructor(button, press) {
    const keys = new bideuchre.Switch(button, "keys", true);
    document.addEventListener("keydown", (event) => {
      const combined = event.altKey || event.ctrlKey || event.metaKey;
      if (!keys.on || combined || event.defaultPrevented) return;
      // whatever is typed into or moved by keys has its own use for them
      if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
      if (press(event)) event.preventDefault();
    });
  }
};
