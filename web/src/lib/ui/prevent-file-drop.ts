/** A file that is dropped beside a place for files must not replace the page, as browsers do. */

export function preventFileDrop(): void {
  for (const kind of ["dragover", "drop"] as const) {
    window.addEventListener(kind, (event) => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}
