import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ShieldCheck } from "lucide-react";
import { formatDate } from "@/lib/format";
import { latestDecisionsQuery, type ReportState, reportStates, stateLabels } from "../api/reports";
import { ReportSubject } from "./report-subject";

const texts: Readonly<Record<ReportState, { title: string; text: string }>> = {
  open: {
    title: "Nothing is reported.",
    text: "Reports of outfits and people arrive here, the oldest first. They are sent by the flag on an outfit's page and on a creator's; who is reported does not learn it.",
  },
  done: {
    title: "No report is marked as done.",
    text: "Reports are here when something was done about the outfit or the person.",
  },
  dismissed: {
    title: "No report is dismissed.",
    text: "Reports are here when nothing had to be done.",
  },
};

interface NoReportsProps {
  state: ReportState;
  onShow: (state: ReportState) => void;
}

/** In place of an empty queue: what arrives there, and what was decided last. */
export function NoReports({ state, onShow }: NoReportsProps) {
  const { title, text } = texts[state];
  return (
    <>
      <div className="flex flex-col items-center rounded-md border border-line bg-surface px-6 py-12 text-center">
        <span
          aria-hidden="true"
          className="flex size-14 items-center justify-center rounded-full border border-line text-ink-soft"
        >
          <ShieldCheck className="size-6" strokeWidth={1.4} />
        </span>
        <p className="mt-4 font-serif text-heading">{title}</p>
        <p className="mt-2 max-w-md text-pretty text-ink-soft text-small">{text}</p>
        {state !== "open" && (
          <Button className="mt-5" onClick={() => onShow("open")}>
            Show open reports
          </Button>
        )}
      </div>
      {state === "open" && <LatestDecisions onShow={onShow} />}
    </>
  );
}

/** Nothing where nothing was decided yet, or while it is loaded: it is the last of the page. */
function LatestDecisions({ onShow }: Pick<NoReportsProps, "onShow">) {
  const { data: decided = [] } = useQuery(latestDecisionsQuery());
  if (decided.length === 0) return null;
  return (
    <section aria-labelledby="decided-title" className="mt-8">
      <h2 id="decided-title" className="font-medium text-small">
        Decided last
      </h2>
      <ul className="mt-3 rounded-md border border-line bg-surface text-small">
        {decided.map((report) => {
          const state = reportStates.find((one) => one === report.state) ?? "done";
          return (
            <li
              key={report.id}
              className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1 border-line not-last:border-b px-3 py-2.5"
            >
              <span className="min-w-0 flex-1 basis-60">
                <ReportSubject report={report} />
              </span>
              <span className="text-caption text-ink-soft tabular-nums">
                <button
                  type="button"
                  onClick={() => onShow(state)}
                  className="underline decoration-line-strong underline-offset-4 hover:text-ink pointer-coarse:min-h-11"
                >
                  {stateLabels[state]}
                </button>
                {report.decided_at !== null && ` · ${formatDate(report.decided_at)}`}
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
