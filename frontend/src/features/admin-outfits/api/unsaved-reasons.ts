/** Reasons of rejections that were typed and not saved, by their author and outfit: Escape, Cancel or a failure loses nothing. */
import { hasStoredSession } from "@/lib/services";

const reasons = new Map<string, string>();
/** Who is at the page. Another one could neither see nor send what was typed here. */
let author = "";

const keyOf = (outfit: string) => `${author} ${outfit}`;

window.addEventListener("beforeunload", (event) => {
  const isOwn = [...reasons.keys()].some((key) => key.startsWith(keyOf("")));
  if (isOwn && hasStoredSession()) event.preventDefault();
});

export function showReasonsOf(userId: string): void {
  author = userId;
}

/** The reason that all of these outfits have. */
export function readReason(outfits: readonly string[]): string {
  const [text = "", ...others] = new Set(outfits.map((id) => reasons.get(keyOf(id)) ?? ""));
  return others.length === 0 ? text : "";
}

export function keepReason(outfits: readonly string[], text: string): void {
  for (const id of outfits) {
    if (text.trim() === "") reasons.delete(keyOf(id));
    else reasons.set(keyOf(id), text);
  }
}

/** These outfits are decided about or gone, so that nobody will be asked for a reason. */
export function forgetReasons(outfits: readonly string[]): void {
  for (const key of reasons.keys()) {
    if (outfits.some((id) => key.endsWith(` ${id}`))) reasons.delete(key);
  }
}
