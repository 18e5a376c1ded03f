/** Object names as paths: the parts before slashes are folders. */

/** Characters that the storage service takes in names; any other is answered by `InvalidKey`. */
const allowedName = /^[A-Za-z0-9_/!\-.*'() &$@=;:+,?]+$/;
/** Longest name in bytes, which are characters here, because only ASCII is taken. */
const longestName = 1024;

/** Returns the parent folder of a file or folder, with a slash at its end; empty for the bucket itself. */
export function parentOf(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.slice(0, trimmed.lastIndexOf("/") + 1);
}

/** The last part of a name or of a folder, without slashes. */
export function lastPartOf(path: string): string {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** The folders that lead to a folder, outermost first, each with its whole path. */
export function breadcrumbsOf(folder: string): { name: string; path: string }[] {
  const parts = folder.split("/").filter((part) => part !== "");
  return parts.map((name, index) => ({
    name,
    path: `${parts.slice(0, index + 1).join("/")}/`,
  }));
}

/** A folder from the address: without slashes at the front, with one at the end. */
export function parseFolder(text: string | null): string {
  const trimmed = (text ?? "").replace(/^\/+|\/+$/g, "");
  return trimmed === "" ? "" : `${trimmed}/`;
}

/** Why the service would refuse this name, as a sentence; null when it takes it. */
export function findNameFault(name: string): string | null {
  if (name.trim() === "") return "Enter a name.";
  if (name.length > longestName) return `Names have at most ${longestName} characters.`;
  const wrong = [...name].find((sign) => !allowedName.test(sign));
  if (wrong !== undefined) {
    return `“${wrong}” cannot be part of a name. Letters without accents, digits, spaces and - _ . ! * ' ( ) & $ @ = ; : + , ? can.`;
  }
  if (name.split("/").some((part) => part === "." || part === "..")) {
    return "“.” and “..” cannot be folders.";
  }
  return null;
}

/** The name under which an uploaded file is stored: signs that the service refuses are replaced by the nearest plain ones. */
export function storableName(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "");
  const signs = [...plain].map((sign) => (allowedName.test(sign) ? sign : "_"));
  return signs.join("").replace(/(^|\/)\.\.?(?=\/|$)/g, "$1_");
}

/** A free name beside a taken one: `photo.png`, `photo (1).png`, `photo (2).png`. */
export function findFreeName(name: string, isTaken: (name: string) => boolean): string {
  const folder = parentOf(name);
  const last = lastPartOf(name);
  const dot = last.lastIndexOf(".");
  const stem = dot > 0 ? last.slice(0, dot) : last;
  const extension = dot > 0 ? last.slice(dot) : "";
  for (let number = 1; ; number += 1) {
    const candidate = `${folder}${stem} (${number})${extension}`;
    if (!isTaken(candidate)) return candidate;
  }
}

/** A name in a URL: each part is encoded and slashes stay. */
export function encodePath(name: string): string {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** How a stored object can be shown. HTML is shown as text and SVG in an image element, where no script runs. */
export type PreviewKind = "image" | "text" | "pdf" | "audio" | "video" | "none";

const textTypes =
  /^(text\/|application\/(json|xml|javascript|sql|toml|yaml|x-yaml|x-sh|x-ndjson|typescript)\b|.*\+(json|xml)\b)/;
const textNames = /\.(txt|md|csv|tsv|json|sql|ya?ml|toml|xml|html?|css|m?[jt]sx?|sh|log|svg|ini)$/i;

export function previewKindOf(name: string, type: string | null): PreviewKind {
  const mime = (type ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (mime === "image/svg+xml") return "image";
  if (/^image\/(png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/.test(mime))
    return "image";
  if (mime === "application/pdf") return "pdf";
  if (mime.startsWith("audio/")) return "audio";
  if (mime.startsWith("video/")) return "video";
  if (textTypes.test(mime) || textNames.test(name)) return "text";
  return "none";
}
