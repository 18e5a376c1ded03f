import { keyCaps } from "@/lib/shortcuts";

/** The keys of a shortcut, drawn as key caps. */
export function Kbd({ keys }: { keys: string }) {
  const caps = keyCaps(keys);
  return (
    <kbd className="inline-flex gap-0.5 font-sans text-ink-soft text-micro">
      {caps.map((cap, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the same cap can occur twice and the list never changes.
          key={index}
          className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-[4px] border border-line bg-surface px-1"
        >
          {cap}
        </span>
      ))}
    </kbd>
  );
}
