/**
 * Makes a message safe to show and finds what its reader came for: links and codes. The message is parsed into an inert document,
 * rebuilt without anything that runs or loads, and shown in a frame without scripts and origin. Source: CONSOLE-140, CONSOLE-164.
 */
import { trustInertHtml } from "./trusted-html";

export interface MailLink {
  text: string;
  url: string;
}

export interface MailContent {
  /** A whole document for the frame's `srcdoc`. */
  html: string;
  links: MailLink[];
  codes: string[];
  /** Images that would have been loaded from elsewhere, and so would have told the sender that the message was read. */
  removedImages: number;
}

/** Elements that run, load or send something, or leave the frame. */
const forbidden =
  "script, iframe, frame, object, embed, applet, form, input, button, textarea, select, link, meta, base, title, noscript, template, svg, math, audio, video, source, track, portal";

/** Attributes that stay; all others, above all event handlers, are removed. */
const allowedAttributes = new Set([
  "align",
  "alt",
  "bgcolor",
  "border",
  "cellpadding",
  "cellspacing",
  "class",
  "color",
  "colspan",
  "dir",
  "height",
  "href",
  "id",
  "lang",
  "role",
  "rowspan",
  "src",
  "title",
  "valign",
  "width",
]);

/** Links that may be followed. Any other scheme, such as `javascript:`, is shown as text. */
function isFollowable(url: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url.trim());
}

/** Prepares an HTML message. `nonce` admits the frame's styles, because a `srcdoc` frame inherits the page's content policy. */
export function prepareHtmlMail(html: string, nonce: string): MailContent {
  const parsed = new DOMParser().parseFromString(trustInertHtml(renameStyles(html)), "text/html");
  const links = collectLinks(parsed);
  const codes = findCodes(parsed.body.textContent ?? "");
  const sheets = [...parsed.querySelectorAll("x-style, style")].map(
    (style) => style.textContent ?? "",
  );
  for (const element of parsed.querySelectorAll(`${forbidden}, style, x-style`)) element.remove();
  const removedImages = removeRemoteImages(parsed);
  const inlineRules: string[] = [];
  for (const element of parsed.body.querySelectorAll("*")) cleanElement(element, inlineRules);
  cleanElement(parsed.body, inlineRules);
  return {
    html: buildDocument(parsed.body, [...sheets, ...inlineRules].map(withoutLoading), nonce),
    links,
    codes,
    removedImages,
  };
}

/**
 * Renames style attributes before the message is parsed, because the content security policy reports each style that a
 * parser finds. Styles that are missed here are removed after parsing.
 */
function renameStyles(html: string): string {
  return html
    .replace(/<(\/?)style(?=[\s>])/gi, "<$1x-style")
    .replace(/<[a-z][^>]*>/gi, (tag) => tag.replace(/\sstyle(?=\s*=)/gi, " data-css"));
}

function collectLinks(parsed: Document): MailLink[] {
  const links = new Map<string, MailLink>();
  for (const anchor of parsed.querySelectorAll("a[href]")) {
    const url = anchor.getAttribute("href")?.trim() ?? "";
    const text = (anchor.textContent ?? "").trim().replace(/\s+/g, " ");
    if (isFollowable(url) && !links.has(url)) links.set(url, { text: text || url, url });
  }
  return [...links.values()];
}

function removeRemoteImages(parsed: Document): number {
  const remote = [...parsed.querySelectorAll("img")].filter(
    (image) => !/^data:image\/(png|jpe?g|gif|webp)[;,]/i.test(image.getAttribute("src") ?? ""),
  );
  for (const image of remote) {
    const note = parsed.createElement("span");
    note.textContent = `[${image.getAttribute("alt")?.trim() || "image"}]`;
    image.replaceWith(note);
  }
  return remote.length;
}

/** Removes attributes that are not known to be harmless, and moves an inline style into a rule, which the nonce admits. */
function cleanElement(element: Element, rules: string[]): void {
  const style = element.getAttribute("data-css") ?? element.getAttribute("style");
  for (const { name } of [...element.attributes]) {
    if (!allowedAttributes.has(name.toLowerCase())) element.removeAttribute(name);
  }
  if (style !== null) {
    const mark = String(rules.length);
    element.setAttribute("data-style", mark);
    rules.push(`[data-style="${mark}"]{${style.replace(/[{}]/g, "")}}`);
  }
  const href = element.getAttribute("href");
  if (href === null) return;
  if (!isFollowable(href)) {
    element.removeAttribute("href");
    return;
  }
  element.setAttribute("target", "_blank");
  element.setAttribute("rel", "noopener noreferrer");
}

/** CSS without imports, fonts and pictures from elsewhere, and without an end tag that would leave the style element. */
function withoutLoading(css: string): string {
  return css
    .replace(/<\/?style/gi, "")
    .replace(/@(import|font-face|namespace)\b[^;{]*(;|\{[^}]*\})/gi, "")
    .replace(/(url|image|image-set|src)\s*\(\s*(?!["']?data:image\/)[^)]*\)/gi, "none");
}

function buildDocument(body: HTMLElement, sheets: readonly string[], nonce: string): string {
  const doc = document.implementation.createHTMLDocument("");
  const style = doc.createElement("style");
  style.setAttribute("nonce", nonce);
  style.textContent = [
    ":root{color-scheme:light;background:#fff;color:#1b1715}",
    "body{margin:1rem;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}",
    "img{max-width:100%}",
    ...sheets,
  ].join("\n");
  doc.head.append(style);
  const copy = doc.importNode(body, true);
  doc.body.replaceWith(copy);
  return `<!doctype html>${doc.documentElement.outerHTML}`;
}

/** Finds links and codes of a plain text message. */
export function readTextMail(text: string): Pick<MailContent, "links" | "codes"> {
  const urls = text.match(/https?:\/\/[^\s<>"')\]]+/g) ?? [];
  const links = [...new Set(urls)].map((url) => ({ text: url, url }));
  const withoutLinks = urls.reduce((rest, url) => rest.replace(url, " "), text);
  return { links, codes: findCodes(withoutLinks) };
}

/** One-time codes: six to ten digits that stand alone. Years, prices and phone numbers are shorter or are written in groups. */
export function findCodes(text: string): string[] {
  const found = text.match(/(?<![\w.+/=&-])\d{6,10}(?![\w/=&-]|\.\d)/g) ?? [];
  return [...new Set(found)];
}
