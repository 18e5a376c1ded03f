/** The question before a statement that destroys, with what it would touch (CONSOLE-094). */
import { useQuery } from "@tanstack/react-query";
import { request } from "@/api/client";
import type { Subject } from "@/api/subject";
import { CodeBlock } from "@/components/code-block";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { Skeleton } from "@/components/skeleton";
import { Text } from "@/components/text";
import type { Danger, DangerKind } from "@/lib/sql/dangers";
import { describeCounts, type ObjectCount } from "./danger-counts";

const words: Record<DangerKind, string> = {
  delete_all: "deletes every row of",
  update_all: "changes every row of",
  drop: "drops",
  truncate: "empties",
  drop_column: "drops",
  merge_delete: "deletes rows, without a condition for which, of",
  disable_rls: "takes row-level security off",
};

interface DangerDialogProps {
  dangers: readonly Danger[];
  /** Counts as this subject, because row-level security may hide rows from it. */
  subject: Subject;
  /** In one transaction, nothing is kept unless everything succeeds. */
  isOneTransaction: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function DangerDialog(props: DangerDialogProps) {
  const { dangers, subject, isOneTransaction, onConfirm, onClose } = props;
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
        {dangers.map((danger, index) => (
          <DangerItem
            key={`${danger.statement.start} ${danger.kind} ${danger.target}`}
            danger={danger}
            label={`Statement ${index + 1}`}
            subject={subject}
          />
        ))}
      </ul>
    </ConfirmDialog>
  );
}

interface DangerItemProps {
  danger: Danger;
  /** Accessible name of its text. */
  label: string;
  subject: Subject;
}

function DangerItem({ danger, label, subject }: DangerItemProps) {
  const { objects, statement } = danger;
  const { text } = statement;
  const counts = useQuery({
    queryKey: ["sql-count", objects, subject],
    queryFn: async ({ signal }) => {
      const json = { objects, subject };
      const body = await request<{ objects: ObjectCount[] }>("/api/sql/count", { json, signal });
      return body.objects;
    },
    enabled: objects.length > 0,
    retry: false,
    gcTime: 0,
  });
  const sentence =
    objects.length === 0 ? "" : describeCounts(danger.kind, counts.data, counts.error);
  return (
    <li>
      <p className="mb-1">
        It {words[danger.kind]}{" "}
        <strong className="font-medium">
          <Text>{danger.target === "" ? "an object" : danger.target}</Text>
        </strong>
        {sentence === "" && !counts.isLoading ? "." : ": "}
        <span role="status">
          {counts.isLoading ? (
            <>
              <Skeleton className="inline-block h-3.5 w-16 align-middle" />
              <span className="sr-only">counting</span>
            </>
          ) : (
            <Text>{sentence}</Text>
          )}
        </span>
      </p>
      <CodeBlock code={text.length > 600 ? `${text.slice(0, 600)}…` : text} label={label} />
    </li>
  );
}
