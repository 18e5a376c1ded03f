import type { LucideIcon } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";

/** One line of the command palette. */
export interface PaletteItem {
  id: string;
  title: string;
  /** Small text behind the title, for example the schema. */
  detail?: string;
  icon?: LucideIcon;
  /** More words by which it is found. */
  words?: string;
  /** An address of the console, or what happens. */
  to?: string;
  run?: () => void;
}

/** Lines that a screen adds: all of them, or those that a search finds. A search is asked again at every change of the text. */
export interface PaletteSource {
  /** Heading of the group in the palette. */
  name: string;
  items?: readonly PaletteItem[];
  search?: (text: string, signal: AbortSignal) => Promise<readonly PaletteItem[]>;
}

let sources: readonly PaletteSource[] = [];
const listeners = new Set<() => void>();

function publish(next: readonly PaletteSource[]): void {
  sources = next;
  for (const listener of listeners) listener();
}

/** Adds lines for good. Modules that are loaded with the shell call it once. */
export function registerPaletteSource(source: PaletteSource): () => void {
  publish([...sources, source]);
  return () => publish(sources.filter((other) => other !== source));
}

/** Adds lines while the component is shown. The source must stay the same object while nothing changes. */
export function usePaletteSource(source: PaletteSource): void {
  useEffect(() => registerPaletteSource(source), [source]);
}

export function usePaletteSources(): readonly PaletteSource[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => sources,
  );
}
