/** The plan of a tab's statement: asking for it, and the question before a write is measured. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Subject } from "@/api/subject";
import { toast } from "@/lib/toast";
import { explainStatement, whyNotExplained, writesRows } from "./plan/explain";

interface PlanRequest {
  text: string;
  analyze: boolean;
  subject: Subject;
  onPlan: () => void;
}

export function usePlan() {
  const [question, setQuestion] = useState<PlanRequest | null>(null);
  const explain = useMutation({
    mutationFn: ({ text, analyze, subject }: PlanRequest) =>
      explainStatement(text, analyze, subject),
    onSuccess: (_, { onPlan }) => onPlan(),
    onError: (error) =>
      toast({ title: "There is no plan", description: error.message, tone: "danger" }),
  });
  const run = (request: PlanRequest) => {
    setQuestion(null);
    explain.mutate(request);
  };
  return {
    plan: explain.data ?? null,
    isPending: explain.isPending,
    /** A write that waits for the user's consent. */
    question,
    ask(text: string, analyze: boolean, subject: Subject, onPlan: () => void) {
      const reason = whyNotExplained(text);
      if (reason !== null) {
        toast({ title: reason });
        return;
      }
      const request = { text, analyze, subject, onPlan };
      if (analyze && writesRows(text)) setQuestion(request);
      else run(request);
    },
    confirm: () => question && run(question),
    dismiss: () => setQuestion(null),
  };
}
