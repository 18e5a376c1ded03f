import { useMutation } from "@tanstack/react-query";
import type { ReportReason } from "@/lib/report-reasons";
import { hasCode, messageOf, resultOf, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";

/** What is reported: an outfit or a person. */
export interface ReportSubject {
  kind: "outfit" | "person";
  id: string;
}

interface Report {
  subject: ReportSubject;
  reason: ReportReason;
  note: string;
}

/** Sends a report to the administrators. */
export function useReport(userId: string) {
  return useMutation({
    mutationFn: async ({ subject, reason, note }: Report) => {
      const response = await supabase.from("reports").insert({
        reporter_id: userId,
        combine_id: subject.kind === "outfit" ? subject.id : null,
        profile_id: subject.kind === "person" ? subject.id : null,
        reason,
        note: note.trim(),
      });
      // Reported before, perhaps by an attempt whose answer was lost.
      if (!hasCode(response.error, uniqueViolation)) resultOf(response);
    },
    onSuccess: () => toast("Thank you", "An administrator looks at your report.", "success"),
    onError: (error) =>
      toast(
        "Not reported",
        messageOf(error, "The report could not be sent. Please try again."),
        "danger",
      ),
  });
}
