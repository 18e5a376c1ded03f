import { Dialog } from "@/components/dialog";
import { Kbd } from "@/components/kbd";
import { type Shortcut, useShortcuts } from "@/lib/shortcuts";

/** All keys that work on the present screen, by group. */
export function KeyList({ onClose }: { onClose: () => void }) {
  const shortcuts = useShortcuts().filter(({ label }) => label !== undefined);
  // The screen's own keys are what people look for, so they come before those of the whole console.
  const names = [...new Set(shortcuts.map(groupOf))].sort((a, b) => rank(a) - rank(b));
  return (
    <Dialog title="Keys" width="wide" isTextOnly isDirty={false} onClose={onClose}>
      <div className="columns-1 gap-8 md:columns-2">
        {names.map((name) => (
          <section key={name} className="mb-5 break-inside-avoid">
            <h3 className="mb-1.5 font-medium text-label text-ink-soft">{name}</h3>
            <dl>
              {shortcuts
                .filter((shortcut) => groupOf(shortcut) === name)
                .map(({ keys, label }) => (
                  <div
                    key={`${keys} ${label}`}
                    className="flex items-center justify-between gap-4 border-line-soft border-b py-1"
                  >
                    <dt>{label}</dt>
                    <dd>
                      <Kbd keys={keys} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

const groupOf = (shortcut: Shortcut): string => shortcut.group ?? "This screen";

function rank(group: string): number {
  if (group === "Everywhere") return 1;
  return group === "Go to" ? 2 : 0;
}
