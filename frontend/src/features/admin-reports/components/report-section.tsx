import { Button } from "@ui/button";
import { Link } from "react-router";
import { Select } from "@/components/admin/controls";
import { type Column, DataTable } from "@/components/admin/data-table";
import { Pagination } from "@/components/admin/pagination";
import { formatDate } from "@/lib/format";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { describeReason } from "@/lib/report-reasons";
import { useAdminTable } from "@/lib/use-admin-table";
import {
  nameOf,
  type Report,
  type ReportState,
  readReports,
  reportStates,
  useDecideReport,
} from "../api/reports";

const stateLabels: Readonly<Record<ReportState, string>> = {
  open: "Open",
  done: "Done",
  dismissed: "Dismissed",
};

const filters = ["state"];

/** What a report is about, with a link to where an administrator acts on it. */
function Subject({ report }: { report: Report }) {
  const { combine, person } = report;
  const link = "py-1 font-medium hover:underline [overflow-wrap:anywhere]";
  return (
    <span className="block min-w-0">
      {combine !== null && (
        <Link to={`${paths.admin("combines")}?row=${combine.id}`} className={link}>
          {combine.name}
        </Link>
      )}
      {person !== null && (
        <Link to={`${paths.admin("users")}?row=${person.id}`} className={link}>
          {nameOf(person)}
        </Link>
      )}
      <span className="block text-caption text-ink-soft">{describeReason(report.reason)}</span>
      {report.note !== null && (
        <span className="mt-1 block whitespace-pre-line text-small [overflow-wrap:anywhere]">
          {report.note}
        </span>
      )}
    </span>
  );
}

function columnsOf(
  isPending: boolean,
  decide: (report: Report, state: ReportState) => void,
): readonly Column<Report>[] {
  const about = ({ combine, person }: Report) => combine?.name ?? (person && nameOf(person)) ?? "";
  return [
    { header: "Reported", cell: (report) => <Subject report={report} /> },
    {
      header: "By",
      className: "w-36 max-md:hidden text-ink-soft",
      cell: ({ reporter }) => nameOf(reporter),
    },
    {
      header: "Date",
      sort: "created_at",
      className: "w-28 max-md:hidden text-ink-soft tabular-nums",
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
                aria-label={`${state === "done" ? "Done" : "Dismiss"}: ${about(report)}`}
                onClick={() => decide(report, state)}
              >
                {state === "done" ? "Done" : "Dismiss"}
              </Button>
            ))
          ) : (
            <Button
              size="dense"
              disabled={isPending}
              aria-label={`Open again: ${about(report)}`}
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
  const decide = useDecideReport();
  const state = reportStates.find((one) => one === table.request.filters.state) ?? "open";
  return (
    <>
      <title>{pageTitle("Reports, Admin")}</title>
      <h1 className="font-serif text-heading">Reports</h1>
      <div className="mt-4 mb-3 flex">
        <Select
          isFilter
          aria-label="Filter by state"
          value={state}
          onChange={({ target: { value } }) =>
            table.setFilter("state", value === "open" ? "" : value)
          }
        >
          {reportStates.map((one) => (
            <option key={one} value={one}>
              {stateLabels[one]}
            </option>
          ))}
        </Select>
      </div>
      <DataTable
        label="Reports"
        table={table}
        columns={columnsOf(decide.isPending, (report, to) => decide.mutate({ report, state: to }))}
        empty={state === "open" ? "Nothing is reported." : "No reports found."}
      />
      <Pagination table={table} noun="reports" />
    </>
  );
}
