import { queryOptions } from "@tanstack/react-query";
import { adminListKey, listOf, type ReadList } from "@/lib/admin-list";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export const reportStates = ["open", "done", "dismissed"] as const;
export type ReportState = (typeof reportStates)[number];

export const stateLabels: Readonly<Record<ReportState, string>> = {
  open: "Open",
  done: "Done",
  dismissed: "Dismissed",
};

interface Person {
  id: string;
  username: string | null;
  full_name: string | null;
}

/** A report with what it is about; either an outfit or a person. */
export interface Report {
  id: string;
  reason: string;
  note: string | null;
  state: string;
  created_at: string;
  decided_at: string | null;
  combine: { id: string; name: string; slug: string; status: string } | null;
  person: Person | null;
  reporter: Person;
}

const columns =
  "id, reason, note, state, created_at, decided_at, combine:combines(id, name, slug, status), person:profiles!reports_profile_id_fkey(id, username, full_name), reporter:profiles!reports_reporter_id_fkey(id, username, full_name)";

export const nameOf = ({ username, full_name }: Person): string =>
  username === null ? (full_name ?? "Somebody without a name") : `@${username}`;

/** The name of the outfit or of the person. */
export function subjectOf({ combine, person }: Report): string {
  return combine?.name ?? (person === null ? "" : nameOf(person));
}

/** Reports of one state, the oldest first. */
export const readReports: ReadList<Report> = async (request, signal) => {
  const { filters, ascending, from, to, id } = request;
  let query = supabase.from("reports").select(columns, { count: "exact" });
  const state = reportStates.find((one) => one === filters.state) ?? "open";
  query = id === undefined ? query.eq("state", state) : query.eq("id", id);
  return listOf(
    await query.order("created_at", { ascending }).order("id").range(from, to).abortSignal(signal),
  );
};

/** How many decisions stand below a queue that is empty. */
const shownDecisions = 5;

/** The latest decisions, the newest first. */
export function latestDecisionsQuery() {
  return queryOptions({
    queryKey: [...adminListKey("reports"), "decided"],
    queryFn: async ({ signal }): Promise<Report[]> =>
      rowsOf(
        await supabase
          .from("reports")
          .select(columns)
          .neq("state", "open")
          .order("decided_at", { ascending: false })
          .order("id")
          .limit(shownDecisions)
          .abortSignal(signal),
      ),
  });
}

async function setState(id: string, state: ReportState) {
  const response = await supabase
    .from("reports")
    .update({ state })
    .eq("id", id)
    .select("id")
    .single();
  return rowsOf(response);
}

/** Marks a report as decided, or as open again. */
export function useDecideReport() {
  return useAdminChange({
    change: ({ report, state }: { report: Report; state: ReportState }) =>
      setState(report.id, state),
    success: "Report decided",
    undo: ({ report }) => {
      const before = reportStates.find((one) => one === report.state);
      return before === undefined ? null : () => setState(report.id, before);
    },
    failure: "The report was not decided",
  });
}
