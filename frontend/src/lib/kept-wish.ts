import { localStore } from "@/lib/browser-storage";

/** What a visitor tapped on before they were asked to sign in. It is done once they have. */
export interface Wish {
  kind: "like-outfit" | "like-item" | "bookmark" | "follow";
  id: string;
}

const key = "lookbook:after-sign-in";
/** A wish is forgotten after this time: somebody else may sign in. In milliseconds. */
const longestAgeMs = 30 * 60_000;

export function keepWish(wish: Wish): void {
  localStore.set(key, JSON.stringify({ ...wish, at: Date.now() }));
}

/** Returns the kept wish, once. */
export function takeWish(): Wish | null {
  const text = localStore.get(key);
  localStore.remove(key);
  try {
    const { kind, id, at } = JSON.parse(text ?? "null") ?? {};
    return Date.now() - at < longestAgeMs ? { kind, id } : null;
  } catch {
    return null;
  }
}
