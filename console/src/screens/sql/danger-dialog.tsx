/** The question before a statement that destroys, with what it would touch (CONSOLE-094). */
import { useQuery } from "@tanstack/react-query";
import { request } from "@/api/client";
import { CodeBlock } from "@/components/code-block";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Skeleton } from "@/components/skeleton";
import { Text } from "@/components/text";
import { plural } from "@/lib/format";
import type { Danger, DangerKind } from "@/lib/sql/dangers";

/** What `POST /api/sql/count` says about one statement; it counts in a read-only transaction. */
interface Count {
  rows?: number | null;
  /** What goes along with a DROP. */
  dependants?: { kind: string; name: string }[];
}

const words: Record<DangerKind, string> = {
  delete_all: "deletes every row of",
  update_all: "changes every row of",
  drop: "drops",
  truncate: "empties",
  drop_column: "drops",
  disable_rls: "takes row-level security off",
};

interface DangerDialogProps {
  dangers: readonly Danger[];
  /** In one transaction, nothing is kept unless everything succeeds. */
  isOneTransaction: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function DangerDialog({ dangers, isOneTransaction, onConfirm, onClose }: DangerDialogProps) {
  return (
    <ConfirmDialog
      title={
        dangers.length === 1 ? "Run this statement?" : `Run these ${dangers.length} statements?`
      }
      text={
        isOneTransaction
          ? "All statements run in one transaction. Once it has been committed, this cannot be undone."
          : "Each statement is committed at once. This cannot be undone."
      }
      confirmLabel="Run anyway"
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <ul className="space-y-3">
        {dangers.map((danger) => (
          <DangerItem
            key={`${danger.statement.start} ${danger.kind} ${danger.target}`}
            danger={danger}
          />
        ))}
      </ul>
    </ConfirmDialog>
  );
}

function DangerItem({ danger }: { danger: Danger }) {
  const { text } = danger.statement;
  const count = useQuery({
    queryKey: ["sql-count", text],
    queryFn: ({ signal }) => request<Count>("/api/sql/count", { json: { text }, signal }),
    retry: false,
    gcTime: 0,
  });
  return (
    <li>
      <p className="mb-1">
        It {words[danger.kind]}{" "}
        <strong className="font-medium">
          <Text>{danger.target === "" ? "an object" : danger.target}</Text>
        </strong>
        {": "}
        {count.isPending ? (
          <Skeleton className="inline-block h-3.5 w-16 align-middle" />
        ) : (
          describeCount(count.data)
        )}
      </p>
      <CodeBlock code={text.length > 600 ? `${text.slice(0, 600)}…` : text} label="statement" />
    </li>
  );
}

function describeCount(count: Count | undefined): string {
  if (count === undefined) return "how much it touches could not be counted.";
  const parts = [
    typeof count.rows === "number" ? plural(count.rows, "row") : null,
    count.dependants?.length
      ? `${plural(count.dependants.length, "dependent object")} (${count.dependants
          .slice(0, 3)
          .map(({ name }) => name)
          .join(", ")}${count.dependants.length > 3 ? " …" : ""})`
      : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "nothing was counted." : `${parts.join(", ")}.`;
}
