import { EditDialog } from "./edit-dialog";

const keys: readonly { keys: readonly string[]; effect: string }[] = [
  { keys: ["/"], effect: "Search" },
  { keys: ["n"], effect: "Add a row" },
  { keys: ["↑", "↓"], effect: "Move between rows" },
  { keys: ["k", "j"], effect: "The same, and between the submissions of a page" },
  { keys: ["Home", "End"], effect: "First and last row" },
  { keys: ["Enter"], effect: "Open the row" },
  { keys: ["←", "→"], effect: "Former and next page of the table" },
  { keys: [",", "."], effect: "Section above and below" },
  { keys: ["x"], effect: "Tick a submission or an item, to act on several" },
  { keys: ["a", "r"], effect: "In a submission that waits: approve, reject" },
  { keys: ["Esc"], effect: "Close a panel, clear the search" },
  { keys: ["F8"], effect: "Go to the notices, also above a panel, such as to Undo" },
  { keys: ["?"], effect: "This list" },
];

/** The keys of the admin area. */
export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <EditDialog title="Keyboard shortcuts" isDirty={false} onClose={onClose}>
      <dl className="grid grid-cols-[8rem_1fr] gap-y-3 pb-8 text-small">
        {keys.map(({ keys: names, effect }) => (
          <div key={effect} className="contents">
            <dt className="flex gap-1.5">
              {names.map((name) => (
                <kbd
                  key={name}
                  className="inline-flex min-w-7 items-center justify-center rounded-sm border border-line bg-surface px-1.5 font-sans text-caption"
                >
                  {name}
                </kbd>
              ))}
            </dt>
            <dd className="text-ink-soft">{effect}</dd>
          </div>
        ))}
      </dl>
    </EditDialog>
  );
}
