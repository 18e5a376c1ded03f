import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { type Column, DataTable } from "@/components/admin/data-table";
import { Pagination } from "@/components/admin/pagination";
import { PillRadio } from "@/components/ui/pill-radio";
import { adminOverviewQuery } from "@/lib/admin-overview";
import { formatDate } from "@/lib/format";
import { pageTitle } from "@/lib/product";
import { useAdminTable } from "@/lib/use-admin-table";
import {
  nameOf,
  type Report,
  type ReportState,
  readReports,
  reportStates,
  stateLabels,
  subjectOf,
  useDecideReport,
} from "../api/reports";
import { NoReports } from "./no-reports";
import { ReportSubject } from "./report-subject";

const filters = ["state"];

function columnsOf(
  isPending: boolean,
  decide: (report: Report, state: ReportState) => void,
): readonly Column<Report>[] {
  return [
    { header: "Reported", cell: (report) => <ReportSubject report={report} /> },
    {
      header: "By",
      className: "w-36 max-md:hidden text-ink-soft",
      cell: ({ reporter }) => nameOf(reporter),
    },
    {
      header: "Date",
      sort: "created_at",
      className: "w-32 whitespace-nowrap max-md:hidden text-ink-soft tabular-nums",
      cell: ({ created_at }) => formatDate(created_at),
    },
    {
      header: "Decision",
      className: "w-52 text-right max-sm:w-28",
      cell: (report) => (
        <span className="inline-flex flex-wrap justify-end gap-2">
          {report.state === "open" ? (
            (["done", "dismissed"] as const).map((state) => (
              <Button
                key={state}
                size="dense"
                disabled={isPending}
                aria-label={`${state === "done" ? "Done" : "Dismiss"}: ${subjectOf(report)}`}
                onClick={() => decide(report, state)}
              >
                {state === "done" ? "Done" : "Dismiss"}
              </Button>
            ))
          ) : (
            <Button
              size="dense"
              disabled={isPending}
              aria-label={`Open again: ${subjectOf(report)}`}
              onClick={() => decide(report, "open")}
            >
              Open again
            </Button>
          )}
        </span>
      ),
    },
  ];
}

/** Reports of outfits and people, oldest first. What is done about them is done where they lead. */
export function ReportSection() {
  const table = useAdminTable({
    section: "reports",
    read: readReports,
    pageSize: 20,
    sort: "created_at",
    ascending: true,
    filters,
  });
  const { data: overview } = useQuery(adminOverviewQuery());
  const decide = useDecideReport();
  const state = reportStates.find((one) => one === table.request.filters.state) ?? "open";
  const show = (wanted: ReportState) => table.setFilter("state", wanted === "open" ? "" : wanted);
  return (
    <>
      <title>{pageTitle("Reports, Admin")}</title>
      <h1 className="font-serif text-heading">Reports</h1>
      <fieldset className="mt-4 mb-3 flex flex-wrap gap-2">
        <legend className="sr-only">State</legend>
        {reportStates.map((one) => (
          <PillRadio
            key={one}
            name="report-state"
            value={one}
            checked={one === state}
            onChoose={() => show(one)}
          >
            {stateLabels[one]}
            {one === "open" && overview !== undefined && overview.reports > 0 && (
              <span className="ml-2 tabular-nums"> {overview.reports}</span>
            )}
          </PillRadio>
        ))}
      </fieldset>
      <DataTable
        label="Reports"
        table={table}
        columns={columnsOf(decide.isPending, (report, to) => decide.mutate({ report, state: to }))}
        empty={<NoReports state={state} onShow={show} />}
      />
      <Pagination table={table} noun="reports" />
    </>
  );
}
