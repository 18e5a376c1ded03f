/** A store of short notices. `<Toaster>` renders them, and screen readers announce them. */
export type ToastTone = "neutral" | "success" | "danger";

/** A button in a toast, such as "Undo". */
export interface ToastAction {
  label: string;
  /** Called when the button is pressed. */
  onPress: () => void;
  /** The toast went away without it: closed, out of time, or replaced by later ones. */
  onMiss: () => void;
}

export interface Toast {
  id: number;
  title: string;
  description?: string | undefined;
  tone: ToastTone;
  action?: ToastAction | undefined;
}

type Listener = () => void;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<Listener>();

/** A further toast replaces the oldest one, because more at the same time would cover the page. */
const maxVisible = 3;

function publish(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(
  title: string,
  description?: string,
  tone: ToastTone = "neutral",
  action?: ToastAction,
): void {
  const added: Toast = { id: nextId++, title, description, tone, action };
  const next = [...toasts, added];
  const replaced = next.slice(0, -maxVisible);
  publish(next.slice(-maxVisible));
  for (const { action: missed } of replaced) missed?.onMiss();
}

/** Removes a toast. `pressed` is true when that was its button. */
export function dismissToast(id: number, pressed = false): void {
  const action = toasts.find((shown) => shown.id === id)?.action;
  publish(toasts.filter((shown) => shown.id !== id));
  if (pressed) action?.onPress();
  else action?.onMiss();
}

export function subscribeToToasts(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToasts(): readonly Toast[] {
  return toasts;
}
