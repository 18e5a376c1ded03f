/** Reasons of rejections that were typed and not saved, by their author and outfits: Escape, Cancel or a failure loses nothing. */
import { hasStoredSession } from "@/lib/services";

/** A text that was typed for these outfits together. */
interface Reason {
  author: string;
  outfits: readonly string[];
  /** Whether they were published then. Why one is taken offline is another text than why it is not published. */
  isPublished: boolean;
  text: string;
}

/** The newest is the last. */
let reasons: readonly Reason[] = [];
/** Who is at the page. Another one could neither see nor send what was typed here. */
let author = "";

const ownReasons = () => reasons.filter((reason) => reason.author === author);

const isFor = (reason: Reason, outfits: readonly string[], isPublished: boolean): boolean =>
  reason.isPublished === isPublished &&
  reason.outfits.length === outfits.length &&
  outfits.every((id) => reason.outfits.includes(id));

window.addEventListener("beforeunload", (event) => {
  if (ownReasons().length > 0 && hasStoredSession()) event.preventDefault();
});

export function showReasonsOf(userId: string): void {
  author = userId;
}

/** The reason for this one, or else the newest for several that it is one of. */
function readReasonOf(outfit: string, isPublished: boolean): string {
  const about = ownReasons().filter(
    (one) => one.isPublished === isPublished && one.outfits.includes(outfit),
  );
  const reason = about.find((one) => isFor(one, [outfit], isPublished)) ?? about.at(-1);
  return reason?.text ?? "";
}

/** The reason that was typed for these outfits together, or else the one that all of them have. */
export function readReason(outfits: readonly string[], isPublished = false): string {
  const own = ownReasons()
    .filter((reason) => isFor(reason, outfits, isPublished))
    .at(-1);
  if (own !== undefined) return own.text;
  const [text = "", ...others] = new Set(outfits.map((id) => readReasonOf(id, isPublished)));
  return others.length === 0 ? text : "";
}

/** Keeps a reason for these outfits. What was typed for one of them alone, or for others with it, stays. */
export function keepReason(outfits: readonly string[], text: string, isPublished = false): void {
  const others = reasons.filter(
    (one) => one.author !== author || !isFor(one, outfits, isPublished),
  );
  const kept = { author, outfits: [...outfits], isPublished, text };
  reasons = text.trim() === "" ? others : [...others, kept];
}

/** Outfits for which this author has typed a reason. */
export function outfitsWithReason(): string[] {
  return [...new Set(ownReasons().flatMap(({ outfits }) => outfits))];
}

/**
 * These outfits are decided about or gone, so that nobody will be asked for a reason; or only for what was typed while they were
 * published, or while they were not. For those that were with them it stays.
 */
export function forgetReasons(outfits: readonly string[], isPublished?: boolean): void {
  reasons = reasons.flatMap((reason) => {
    if (isPublished !== undefined && reason.isPublished !== isPublished) return [reason];
    const left = reason.outfits.filter((id) => !outfits.includes(id));
    if (left.length === reason.outfits.length) return [reason];
    const hasOwn = reasons.some(
      (one) => one.author === reason.author && isFor(one, left, reason.isPublished),
    );
    return left.length === 0 || hasOwn ? [] : [{ ...reason, outfits: left }];
  });
}
