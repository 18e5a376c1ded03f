/** What the site tells in passing: a small store that `<Toaster>` draws and screen readers announce. */
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

/** More than this many at once would cover the page; the oldest makes room. */
const visibleAtMost = 3;

function publish(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(title: string, description?: string, tone: ToastTone = "neutral"): void {
  const added: Toast = { id: nextId++, title, description, tone };
  publish([...toasts, added].slice(-visibleAtMost));
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
