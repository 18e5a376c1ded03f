/** The effects of a schema change: locks, table rewrites, cascades and dependent objects (CONSOLE-072). */
import { Lock, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { MigrationPreview, NamedObject, TableLock } from "@/api/migrations";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";

export function MigrationEffects({ preview }: { preview: MigrationPreview }) {
  const { locks, dropped, dependants, notes } = preview;
  return (
    <dl className="space-y-3 text-caption">
      <Effect name="Locks">
        {locks.length === 0 ? (
          <p>None that others would notice.</p>
        ) : (
          <ul className="space-y-1">
            {locks.map((lock) => (
              <LockLine key={lock.relation} lock={lock} />
            ))}
          </ul>
        )}
        <p className="mt-1 text-ink-soft text-label">It waits for locks 4 s at most.</p>
      </Effect>
      <Effect name="Rewrite">
        {preview.rewrites === true ? (
          <Warning>The table is written anew{countRows(preview.rows)}.</Warning>
        ) : (
          <p>{describeReading(preview)}</p>
        )}
      </Effect>
      {dropped.length > 0 && (
        <Effect name="Dropped">
          <ObjectLines objects={dropped} />
        </Effect>
      )}
      <Effect name="Dependants">
        {dependants.length === 0 ? (
          <p>Nothing depends on what it changes.</p>
        ) : (
          <ObjectLines objects={dependants} />
        )}
      </Effect>
      {notes.map((note) => (
        <p key={note} className="rounded-sm bg-changed px-2 py-1.5">
          <Text>{note}</Text>
        </p>
      ))}
    </dl>
  );
}

function countRows(rows: number | null): string {
  return rows ? `: ${plural(rows, "row")}` : "";
}

function describeReading({ rewrites, rows }: MigrationPreview): string {
  if (rewrites === null) return "Not known, because trying it took too long.";
  return `No table is written anew${rows ? `; ${plural(rows, "row")} are read` : ""}.`;
}

function LockLine({ lock }: { lock: TableLock }) {
  return (
    <li className="flex gap-1.5">
      <Lock aria-hidden="true" className="mt-0.5 size-3.5 shrink-0 text-ink-soft" />
      <span className="min-w-0 break-words">
        <Text>{lock.relation}</Text>
        {lock.rows !== null && <span className="text-ink-soft"> {plural(lock.rows, "row")}</span>}
        <span className="block text-ink-soft text-label">
          {lock.mode}: {lock.blocks}
        </span>
      </span>
    </li>
  );
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <p className="flex gap-1.5 text-warning">
      <TriangleAlert aria-hidden="true" className="mt-0.5 size-3.5 shrink-0" />
      <span>{children}</span>
    </p>
  );
}

function ObjectLines({ objects }: { objects: readonly NamedObject[] }) {
  return (
    <ul>
      {objects.map(({ kind, name }) => (
        <li key={`${kind} ${name}`} className="break-words">
          <span className="text-ink-soft">{kind}</span> <Text>{name}</Text>
        </li>
      ))}
    </ul>
  );
}

function Effect({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="mb-0.5 text-ink-soft text-label">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
