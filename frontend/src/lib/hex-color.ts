/** Writes a color of three hex digits with six: `#f0a` is `#ff00aa`. Others stay as they are. */
export function expandHexColor(code: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(code);
  if (short === null) return code;
  return `#${short
    .slice(1)
    .map((digit) => digit + digit)
    .join("")}`;
}
