/** The simulator: as whom, which request, and the explained answer (CONSOLE-080 to 084). */
import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { isSameValue } from "@ui/merge-edit";
import { FlaskConical } from "lucide-react";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { useSession } from "@/api/session";
import type { Subject } from "@/api/subject";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { Kbd } from "@/components/kbd";
import { OldAnswer } from "@/components/old-answer";
import { SkeletonRows } from "@/components/skeleton";
import { SubjectPicker } from "@/components/subject-picker";
import { useKeptDraft, useKeptState } from "@/lib/forms/kept-state";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { useShortcut } from "@/lib/shortcuts";
import { subjectFromParam, subjectToParam } from "@/lib/subject-param";
import { useSearchParams } from "@/lib/use-search-params";
import { type EditedPolicy, simulate, toUnsaved } from "./queries";
import { emptyRequest, type RequestDraft, requestKinds, toRequest } from "./request-draft";
import { RequestFields } from "./request-fields";
import { SimulationView } from "./simulation-view";

interface SimulatorProps {
  /** Null for requests that name their table themselves. */
  table: Table | null;
  /** A policy that is being written, simulated beside the saved ones. */
  edited: EditedPolicy | null;
  /** A request to begin with, for example one of the log. */
  initial?: Partial<RequestDraft>;
}

export function Simulator({ table, edited, initial }: SimulatorProps) {
  const [params, setParams] = useSearchParams();
  const [begun] = useState<RequestDraft>(() => ({
    ...emptyRequest,
    kind: table === null ? "rest" : "verb",
    ...initial,
  }));
  const name = `simulator ${table?.oid ?? initial?.path ?? ""}`;
  const [claims, setClaims] = useKeptState<Subject | null>(`${name} claims`, () => null);
  const isViewer = useSession().account?.level === "viewer";
  const param = params.get("as");
  const fromAddress = subjectFromParam(param);
  // Anon is the subject that most questions are about; the own login would bypass the policies.
  const subject: Subject =
    claims ?? (fromAddress.kind === "admin" ? { kind: "anon" } : fromAddress);
  const run = useMutation({ mutationFn: simulate });

  function setSubject(next: Subject) {
    setClaims(next.kind === "claims" ? next : null);
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        const value = subjectToParam(next);
        if (value === null) after.delete("as");
        else after.set("as", value);
        return after;
      },
      { replace: true },
    );
  }
  const form = useDraftForm<RequestDraft>({
    saved: begun,
    isNew: true,
    findProblem: (draft) => {
      const made = toRequest(draft, table?.oid ?? null);
      return typeof made === "string" ? made : null;
    },
    onSubmit: (draft) => {
      const question = questionOf(draft);
      if (question !== null) run.mutate(question);
    },
  });
  /** What is asked of the server; null while the request is not complete. */
  function questionOf(draft: RequestDraft) {
    const made = toRequest(draft, table?.oid ?? null);
    if (typeof made === "string") return null;
    return {
      subject,
      request: made,
      policies: edited === null || isViewer ? [] : [toUnsaved(edited)],
    };
  }
  const request = form.draft;
  const isAnswerOld = run.isSuccess && !isSameValue(run.variables, questionOf(request));
  useKeptDraft(name, form);
  const start = () => void form.submit();
  useShortcut({
    keys: "mod+enter",
    label: "Simulate",
    group: "Policies",
    inFields: true,
    run: start,
  });
  const kinds = requestKinds.filter(({ kind }) => kind !== "verb" || table !== null);
  return (
    <div className="mx-auto max-w-4xl">
      <h2 className="mb-2 font-medium text-small">Simulator</h2>
      <div className="rounded-md border border-line bg-surface p-3">
        <div className="flex flex-wrap items-center gap-2">
          <SubjectPicker
            verb="Simulate as"
            value={subject}
            onChange={setSubject}
            without={["admin"]}
          />
          <fieldset className="flex">
            <legend className="sr-only">Kind of request</legend>
            {kinds.map(({ kind, name }) => (
              <Button
                key={kind}
                size="dense"
                variant="quiet"
                aria-pressed={request.kind === kind}
                className={cn(request.kind === kind && "bg-selected text-ink")}
                onClick={() => form.change({ kind })}
              >
                {name}
              </Button>
            ))}
          </fieldset>
          <Button
            size="dense"
            variant="primary"
            className="ml-auto"
            pending={run.isPending}
            onClick={start}
          >
            <FlaskConical aria-hidden="true" className="size-3.5" />
            Simulate
            <span
              aria-hidden="true"
              className="max-md:hidden [&_*]:border-current/40 [&_*]:bg-transparent [&_*]:text-current"
            >
              <Kbd keys="mod+enter" />
            </span>
          </Button>
        </div>
        <RequestFields table={table} draft={request} onChange={form.change} onRun={start} />
        {form.refusal !== undefined && (
          <p role="alert" className="mt-2 text-caption text-danger">
            {form.refusal}
          </p>
        )}
        {edited !== null && (
          <p className="mt-2 text-caption text-ink-soft">
            {isViewer
              ? "Your account sees saved policies only; the unsaved one is left out."
              : "The unsaved policy is simulated beside the saved ones."}
          </p>
        )}
        <WriteNote draft={request} />
      </div>
      <div className="mt-4">
        {isAnswerOld && <OldAnswer />}
        {run.isPending ? (
          <SkeletonRows rows={6} label="Simulating" />
        ) : run.isError ? (
          <ErrorNotice title="The simulation failed" error={run.error} onRetry={start} />
        ) : run.data !== undefined ? (
          <SimulationView simulation={run.data} />
        ) : (
          <EmptyState
            icon={FlaskConical}
            title="Ask who sees which row, and why"
            text="Each row is tested with each policy, and the real request runs beside it and is rolled back."
          />
        )}
      </div>
    </div>
  );
}

/** Said before a write is simulated, because a rollback does not bring everything back (CONSOLE-083). */
function WriteNote({ draft }: { draft: RequestDraft }) {
  const writes =
    (draft.kind === "verb" && draft.verb !== "select") ||
    (draft.kind === "rest" && !["GET", "HEAD"].includes(draft.method)) ||
    (draft.kind === "sql" && /\b(insert|update|delete|merge|call)\b/i.test(draft.sql));
  if (!writes) return null;
  return (
    <p className="mt-2 text-caption text-ink-soft">
      The write really runs and is rolled back: sequences move on, and calls to other servers stay.
    </p>
  );
}
