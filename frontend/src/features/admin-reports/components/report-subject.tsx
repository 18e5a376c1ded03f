import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { describeReason } from "@/lib/report-reasons";
import { type Report, subjectOf } from "../api/reports";

/** What a report is about and why, with a link to where an administrator acts on it. */
export function ReportSubject({ report }: { report: Report }) {
  const { combine, person, reason, note } = report;
  const place =
    combine !== null
      ? `${paths.admin("combines")}?row=${combine.id}`
      : person !== null
        ? `${paths.admin("users")}?row=${person.id}`
        : null;
  return (
    <span className="block min-w-0">
      {place !== null && (
        <Link to={place} className="py-1 font-medium hover:underline [overflow-wrap:anywhere]">
          {subjectOf(report)}
        </Link>
      )}
      <span className="block text-caption text-ink-soft">{describeReason(reason)}</span>
      {note !== null && (
        <span className="mt-1 block whitespace-pre-line text-small [overflow-wrap:anywhere]">
          {note}
        </span>
      )}
    </span>
  );
}
