/** What of a key event matters here: React's event, which has the browser's own as `nativeEvent`, or the browser's. */
interface KeyPress {
  key: string;
  code?: string;
  keyCode?: number;
  isComposing?: boolean;
  nativeEvent?: { isComposing?: boolean; keyCode?: number };
}

/** The code that browsers give to a press which an input method has taken. Safari sends it for the Enter that ends a composition. */
const takenByInputMethod = 229;

/**
 * Whether the press belongs to an input method, for Japanese or Chinese for example. Its Enter accepts the proposed word and its
 * Escape drops it, so that neither may do anything else.
 */
export function isComposing(event: KeyPress): boolean {
  const native = event.nativeEvent ?? event;
  return native.isComposing === true || native.keyCode === takenByInputMethod;
}

/** Whether Enter was pressed to confirm, and not to accept a word of an input method. */
export function isEnter(event: KeyPress): boolean {
  // biome-ignore lint/plugin: the rule sends everybody here.
  return event.key === "Enter" && !isComposing(event);
}

/** Whether Escape was pressed to leave, and not to drop a word of an input method. */
export function isEscape(event: KeyPress): boolean {
  // biome-ignore lint/plugin: the rule sends everybody here.
  return event.key === "Escape" && !isComposing(event);
}

/**
 * The key's name. A keyboard without Latin letters, such as a Russian or Greek one, gets the Latin letter at the same place, so
 * that shortcuts work on it.
 */
export function keyName(event: KeyPress): string {
  const isForeignLetter = event.key.length === 1 && /[^\p{Script=Latin}\P{L}]/u.test(event.key);
  const letter = isForeignLetter ? /^Key([A-Z])$/.exec(event.code ?? "")?.[1] : undefined;
  return letter?.toLowerCase() ?? event.key;
}
