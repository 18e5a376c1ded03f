/**
 * Refuses files that are dropped where nothing takes them. The browser would open such a file in the place of the page, and what was
 * typed would be gone. Returns a function that ends it.
 */
export function refuseStrayDrops(): () => void {
  function refuse(event: DragEvent): void {
    // A drop zone has taken the event already, and an input for files takes it by itself.
    const isTaken = event.defaultPrevented || isFileInput(event.target);
    if (isTaken || event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  }
  window.addEventListener("dragover", refuse);
  window.addEventListener("drop", refuse);
  return () => {
    window.removeEventListener("dragover", refuse);
    window.removeEventListener("drop", refuse);
  };
}

function isFileInput(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement && target.type === "file";
}
