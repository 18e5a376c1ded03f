/** One table: its policies and their editor, with the simulator beside. */
import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { isSameValue } from "@ui/merge-edit";
import { ShieldOff, TableProperties } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useCatalog } from "@/api/catalog";
import { type Table, whyNoRight } from "@/api/catalog-model";
import { objectsQuery } from "@/api/objects";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { Badge } from "@/components/badge";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { KeepTyped } from "@/components/keep-typed";
import { MigrationDialog } from "@/components/migration-dialog";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import type { PolicyDraft } from "@/lib/sql/ddl/policies";
import { setRls } from "@/lib/sql/ddl/tables";
import { useSearchParams } from "@/lib/use-search-params";
import { PolicyForm } from "./policy-form";
import { NewPolicyMenu, PolicyList } from "./policy-list";
import { type EditedPolicy, toDraft } from "./queries";
import { Simulator } from "./simulator";

export function TableScreen() {
  const { oid = "" } = useParams();
  const catalog = useCatalog();
  const navigate = useNavigate();
  const table = catalog?.tablesByOid.get(oid);
  if (catalog === undefined) return <SkeletonRows label="Loading the table" />;
  if (table === undefined) {
    return (
      <ScreenLayout title="Policies" onBack={() => void navigate("/policies")}>
        <EmptyState
          icon={TableProperties}
          title="This table is gone"
          text="It was dropped, or its database is another one."
          action={
            <Button size="dense" onClick={() => void navigate("/policies")}>
              All tables
            </Button>
          }
        />
      </ScreenLayout>
    );
  }
  return <TablePolicies key={oid} table={table} />;
}

interface Change {
  title: string;
  sql: string;
  /** What ends with this change, and with no other that is made beside it. */
  onDone?: () => void;
}

function TablePolicies({ table }: { table: Table }) {
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams();
  const [edited, setEdited] = useState<EditedPolicy | null>(null);
  /** With what the open edit has begun, and its number, which names the form: another edit is another form. */
  const [begun, setBegun] = useState<{ draft: PolicyDraft; number: number } | null>(null);
  /** An edit that would replace one in which something was typed. */
  const [waiting, setWaiting] = useState<EditedPolicy | null>(null);
  function begin(next: EditedPolicy): void {
    setWaiting(null);
    setBegun((last) => ({ draft: next.draft, number: (last?.number ?? 0) + 1 }));
    setEdited(next);
    setPart("policies");
  }
  const isDirty = edited !== null && !isSameValue(edited.draft, begun?.draft);
  const [change, setChange] = useState<Change | null>(null);
  const reason = whyNoSchemaChanges(useSession()) ?? whyNoRight(table, "o");
  const part = params.get("part") === "simulator" ? "simulator" : "policies";
  const setPart = (next: string) =>
    setParams(
      (before) => {
        const params = new URLSearchParams(before);
        params.set("part", next);
        return params;
      },
      { replace: true },
    );
  const toggle: Change = {
    title: `${table.rls ? "Disable" : "Enable"} row level security on ${table.name}`,
    sql: setRls(table, !table.rls),
  };
  return (
    <ScreenLayout
      title={
        <>
          {table.schema !== "public" && (
            <span className="text-ink-soft">
              <Text>{table.schema}</Text>.
            </span>
          )}
          <Text>{table.name}</Text>
        </>
      }
      detail={
        <Badge tone={table.rls ? "success" : "warning"}>{table.rls ? "RLS on" : "RLS off"}</Badge>
      }
      onBack={() => void navigate("/policies")}
      actions={
        <>
          <Button
            size="dense"
            variant="quiet"
            className="max-md:hidden"
            onClick={() => void navigate("/policies")}
          >
            All tables
          </Button>
          <Button
            size="dense"
            variant={table.rls ? "quiet" : "primary"}
            disabled={reason !== undefined}
            title={reason}
            onClick={() => setChange(toggle)}
          >
            {table.rls ? "Disable RLS" : "Enable RLS"}
          </Button>
          <NewPolicyMenu
            table={table}
            reason={reason}
            onChoose={(draft) => {
              const next = { before: null, draft };
              if (isDirty) setWaiting(next);
              else begin(next);
            }}
          />
        </>
      }
      scrolls={false}
    >
      <fieldset className="flex shrink-0 gap-1 border-line border-b bg-surface px-2 py-1 xl:hidden">
        <legend className="sr-only">Part of the screen</legend>
        {["policies", "simulator"].map((name) => (
          <Button
            key={name}
            size="dense"
            variant="quiet"
            aria-pressed={part === name}
            className={cn(part === name && "bg-selected text-ink")}
            onClick={() => setPart(name)}
          >
            {name === "policies" ? "Policies" : "Simulator"}
          </Button>
        ))}
      </fieldset>
      <div className="flex min-h-0 flex-1">
        <section
          aria-label="Policies of the table"
          className={cn(
            "min-w-0 flex-1 overflow-y-auto p-4 xl:max-w-136 xl:border-line xl:border-r",
            part === "simulator" && "max-xl:hidden",
          )}
        >
          {edited === null ? (
            <Saved table={table} onEdit={begin} onChange={setChange} reason={reason} />
          ) : (
            <PolicyForm
              key={begun?.number}
              table={table}
              edited={edited}
              reason={reason}
              onDraft={(draft) => setEdited((now) => now && { ...now, draft })}
              onSave={(sql, title) => setChange({ sql, title, onDone: () => setEdited(null) })}
              onSimulate={() => setPart("simulator")}
              onCancel={() => setEdited(null)}
            />
          )}
        </section>
        <section
          aria-label="Simulator"
          className={cn(
            "min-w-0 flex-[1.35] overflow-y-auto p-4",
            part === "policies" && "max-xl:hidden",
          )}
        >
          <Simulator table={table} edited={edited} />
        </section>
      </div>
      <KeepTyped isDirty={isDirty} />
      {waiting !== null && (
        <ConfirmDialog
          title="Discard what you typed?"
          text="The policy that you are editing is not saved yet."
          confirmLabel="Discard"
          onConfirm={() => begin(waiting)}
          onClose={() => setWaiting(null)}
        />
      )}
      {change !== null && (
        <MigrationDialog
          title={change.title}
          sql={change.sql}
          onClose={() => setChange(null)}
          onDone={() => change.onDone?.()}
        />
      )}
    </ScreenLayout>
  );
}

interface SavedProps {
  table: Table;
  reason: string | undefined;
  onEdit: (edited: EditedPolicy) => void;
  onChange: (change: Change) => void;
}

function Saved({ table, reason, onEdit, onChange }: SavedProps) {
  const policies = useQuery(objectsQuery("policies", table.schema));
  if (policies.isPending) return <SkeletonRows rows={4} label="Loading the policies" />;
  if (policies.isLoadingError) {
    return (
      <ErrorNotice
        title="The policies could not be read"
        error={policies.error}
        onRetry={() => void policies.refetch()}
      />
    );
  }
  const own = policies.data.filter((policy) => policy.table === table.name).map(toDraft);
  return (
    <>
      <StaleNotice query={policies} />
      {!table.rls && (
        <p className="mb-4 flex gap-2 rounded-sm border border-line bg-changed px-3 py-2 text-caption">
          <ShieldOff aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
          <span>
            Row-level security is off: every role with a grant reaches all rows, and the policies
            below have no effect.
          </span>
        </p>
      )}
      <PolicyList
        policies={own}
        reason={reason}
        isRlsOn={table.rls}
        onEdit={(before) => onEdit({ before, draft: before })}
        onChange={onChange}
      />
    </>
  );
}
