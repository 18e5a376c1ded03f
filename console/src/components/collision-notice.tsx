import { Button } from "@ui/button";
import type { EditConflict, OtherEdit } from "@ui/merge-edit";
import { Text } from "@/components/text";
import { showExact } from "@/lib/json-text";

interface CollisionNoticeProps {
  conflicts: readonly EditConflict[];
  /** What only the others have changed, and what stays as they have saved it. */
  others: readonly OtherEdit[];
  onKeepMine: () => void;
  onTakeTheirs: () => void;
  /** What keeping the own values does. */
  keepLabel?: string;
}

const describe = (value: unknown): string => (value === undefined ? "nothing" : showExact(value));

/** Says what somebody else has saved since an edit began, and asks whose values stay. Nothing was saved yet. */
export function CollisionNotice({
  conflicts,
  others,
  onKeepMine,
  onTakeTheirs,
  keepLabel = "Save mine",
}: CollisionNoticeProps) {
  return (
    <div role="alert" className="rounded-sm border border-warning/40 p-2.5 text-caption">
      <p className="font-medium">
        Somebody else has changed this since you began. Nothing was saved.
      </p>
      <dl className="my-2 grid gap-1.5">
        {conflicts.map(({ field, mine, theirs }) => (
          <div key={field} className="grid gap-0.5">
            <dt className="font-medium">
              <Text>{field}</Text>
            </dt>
            <dd className="break-words font-mono text-label">
              <span className="font-sans text-ink-soft">Theirs: </span>
              <Text>{describe(theirs)}</Text>
            </dd>
            <dd className="break-words font-mono text-label">
              <span className="font-sans text-ink-soft">Mine: </span>
              <Text>{describe(mine)}</Text>
            </dd>
          </div>
        ))}
      </dl>
      {others.length > 0 && (
        <div className="mb-2">
          <p>
            They have changed this as well. It stays as they have saved it, whatever you choose:
          </p>
          <ul className="break-words font-mono text-label">
            {others.map(({ field, theirs }) => (
              <li key={field}>
                <Text>{`${field}: ${describe(theirs)}`}</Text>
              </li>
            ))}
          </ul>
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button size="dense" onClick={onTakeTheirs}>
          Take theirs
        </Button>
        <Button size="dense" onClick={onKeepMine}>
          {keepLabel}
        </Button>
      </div>
    </div>
  );
}
