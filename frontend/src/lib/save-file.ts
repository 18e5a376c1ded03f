/** Hands a file to the browser's downloads. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Safari reads the address after the click; a minute is enough to begin.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
