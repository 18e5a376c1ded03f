import { Field } from "@ui/field";
import { useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Textarea } from "@/components/ui/textarea";
import { type ReportReason, reportReasons } from "@/lib/report-reasons";
import { type ReportSubject, useReport } from "../api/report";

const longestNote = 1000;

interface ReportWindowProps {
  userId: string;
  subject: ReportSubject;
  /** Name of the outfit or person. */
  name: string;
  onClose: () => void;
}

/** Asks why something is reported, and sends it. */
export function ReportWindow({ userId, subject, name, onClose }: ReportWindowProps) {
  const [reason, setReason] = useState<ReportReason | null>(null);
  const [note, setNote] = useState("");
  const report = useReport(userId);
  const isTooLong = [...note.trim()].length > longestNote;
  const lacksNote = reason === "other" && note.trim() === "";
  return (
    <ConfirmDialog
      title={`Report ${name}`}
      text="Administrators read it and decide. Nobody else learns that it was you."
      confirmLabel="Report"
      disabled={reason === null || isTooLong || lacksNote}
      pending={report.isPending}
      onConfirm={() =>
        reason !== null && report.mutate({ subject, reason, note }, { onSuccess: onClose })
      }
      onClose={onClose}
    >
      <fieldset className="mt-5" disabled={report.isPending}>
        <legend className="mb-1 font-medium text-small">What is wrong?</legend>
        {Object.entries(reportReasons).map(([value, label]) => (
          <label key={value} className="flex min-h-11 cursor-pointer items-center gap-3 text-small">
            <input
              type="radio"
              name="reason"
              value={value}
              checked={reason === value}
              onChange={() => setReason(value as ReportReason)}
              className="size-5 shrink-0 accent-accent"
            />
            {label}
          </label>
        ))}
        <div className="mt-3">
          <Field
            label={reason === "other" ? "What it is" : "Anything to add? (optional)"}
            error={isTooLong ? `At most ${longestNote} letters.` : undefined}
          >
            {(attributes) => (
              <Textarea
                {...attributes}
                rows={3}
                value={note}
                onChange={(event) => setNote(event.target.value)}
              />
            )}
          </Field>
        </div>
      </fieldset>
    </ConfirmDialog>
  );
}
