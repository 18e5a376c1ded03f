/** A store of short notices. `<Toaster>` renders them, and screen readers announce them. */
export type ToastTone = "neutral" | "success" | "danger";

export interface Toast {
  id: number;
  title: string;
  description?: string | undefined;
  tone: ToastTone;
}

type Listener = () => void;

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<Listener>();

/** More toasts at once would cover the page, so a new one replaces the oldest. */
const maxVisible = 3;

function publish(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(title: string, description?: string, tone: ToastTone = "neutral"): void {
  const added: Toast = { id: nextId++, title, description, tone };
  publish([...toasts, added].slice(-maxVisible));
}

export function dismissToast(id: number): void {
  publish(toasts.filter((shown) => shown.id !== id));
}

export function subscribeToToasts(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToasts(): readonly Toast[] {
  return toasts;
}
