// Watches where the focus goes. begin(root) gives the number of stops to expect, end() what was wrong.
window.keyboard_ ??= (() => {
  const STOPS = "a[href], button, input, select, textarea, summary, [tabindex], [role=button], [role=link], [role=tab], [role=switch]";
  // Inside of these the arrow keys lead on.
  const BY_ARROWS = "[role=grid], [role=tablist], [role=radiogroup], [role=menu], [role=listbox]";
  const SEEN_BY = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "borderTopColor", "borderBottomColor", "backgroundColor", "textDecorationLine", "clip"];
  let root, before, met, strays;

  const isThere = (e) =>
    e.checkVisibility({ visibilityProperty: true }) && e.closest("[inert], [aria-hidden=true]") === null && !e.disabled && e.closest("fieldset:disabled") === null && e.type !== "hidden";
  const isStop = (e) => {
    if (!isThere(e) || e.tabIndex < 0) return false;
    if (e.type !== "radio") return true;
    const group = [...document.getElementsByName(e.name)].filter((other) => other.type === "radio");
    return e.checked || (!group.some((other) => other.checked) && group[0] === e);
  };
  const around = (e) => [e, e.parentElement, e.parentElement?.parentElement, e.nextElementSibling, ...(e.labels ?? []), e.firstElementChild].filter(Boolean);
  const look = (e) => around(e).map((one) => { const style = getComputedStyle(one); return SEEN_BY.map((name) => style[name]).join(); }).join("|");
  const nameOf = (e) => {
    const by = (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    const words = [by, e.getAttribute("aria-label"), ...[...(e.labels ?? [])].map((label) => label.textContent), e.textContent, e.getAttribute("title"), e.alt];
    return words.map((word) => (word ?? "").trim()).find((word) => word !== "") ?? "";
  };
  const shown = (e) => `${e.outerHTML.slice(0, 140).replace(/\s+/g, " ")} “${nameOf(e).slice(0, 40)}”`;
  const onFocus = ({ target }) => {
    if (!root.contains(target)) return void strays.add(target);
    if (met.has(target)) return;
    const was = before.get(target);
    met.set(target, was === undefined || was !== look(target));
  };

  return {
    begin(within) {
      if (!window.still_) {
        window.still_ = new CSSStyleSheet();
        window.still_.replaceSync("*, *::before, *::after { transition: none !important; animation: none !important; }");
        document.adoptedStyleSheets = [...document.adoptedStyleSheets, window.still_];
      }
      root = within;
      if (root === document.body) document.activeElement?.blur();
      [before, met, strays] = [new Map(), new Map(), new Set()];
      for (const e of root.querySelectorAll(STOPS)) if (isStop(e) && e !== document.activeElement) before.set(e, look(e));
      document.addEventListener("focusin", onFocus, true);
      return before.size;
    },
    end() {
      document.removeEventListener("focusin", onFocus, true);
      const faults = [];
      for (const [e] of before) if (e.isConnected && isStop(e) && !met.has(e)) faults.push(`Tab does not reach ${shown(e)}`);
      for (const [e, isSeen] of met) {
        if (!isSeen) faults.push(`the focus cannot be seen on ${shown(e)}`);
        // What has left the page since has lost its label with it.
        if (e.isConnected && nameOf(e) === "") faults.push(`nothing says what this is: ${shown(e)}`);
      }
      if (root !== document.body) for (const e of strays) faults.push(`the focus leaves the dialog for ${shown(e)}`);
      for (const e of root.querySelectorAll("button, a[href], input, select, textarea"))
        if (e.tabIndex < 0 && isThere(e) && e.closest(BY_ARROWS) === null) faults.push(`Tab leaves out ${shown(e)}`);
      for (const body of root.querySelectorAll("tbody")) {
        const rows = new Map();
        for (const e of body.querySelectorAll("button, [role=switch], [role=combobox]")) {
          const row = e.closest("tr");
          if (isThere(e) && (rows.get(nameOf(e)) ?? row) !== row) faults.push(`its name does not say which row it is of: ${shown(e)}`);
          rows.set(nameOf(e), row);
        }
      }
      for (const e of root.querySelectorAll("*")) {
        if (e instanceof SVGElement || getComputedStyle(e).cursor !== "pointer" || getComputedStyle(e.parentElement).cursor === "pointer") continue;
        if (isThere(e) && e.closest(`${STOPS}, label`) === null && e.querySelector(STOPS) === null) faults.push(`only a mouse can press ${shown(e)}`);
      }
      return faults;
    },
  };
})();
