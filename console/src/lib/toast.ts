/** A store of short notices. `<Toaster>` shows them, and screen readers announce them. */
export interface Toast {
  id: number;
  title: string;
  description?: string | undefined;
  tone: "neutral" | "success" | "danger";
  /** A button in the notice, such as "Undo". */
  action?: { label: string; run: () => void } | undefined;
  /** How long it stays; by default 5 s, and 10 s with a button. */
  durationMs?: number | undefined;
}

let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

/** A further toast replaces the oldest one, because more at the same time would cover the page. */
const maxVisible = 3;

function publish(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

export function toast(notice: Omit<Toast, "id" | "tone"> & { tone?: Toast["tone"] }): void {
  publish([...toasts, { tone: "neutral" as const, ...notice, id: nextId++ }].slice(-maxVisible));
}

export function dismissToast(id: number): void {
  publish(toasts.filter((shown) => shown.id !== id));
}

export function subscribeToToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToasts(): readonly Toast[] {
  return toasts;
}
