/** As whom and in which transaction a tab runs. Claims stay in memory; the other subjects stand in the address. */
import { useState } from "react";
import type { Subject } from "@/api/subject";
import { subjectToParam } from "@/lib/subject-param";
import type { TransactionMode } from "./runs/run-store";

export interface SqlSettings {
  subject: Subject;
  onSubject: (subject: Subject) => void;
  transaction: TransactionMode;
  onTransaction: (mode: TransactionMode) => void;
}

export function useSqlSettings(
  fromAddress: Subject,
  onParam: (param: string | null) => void,
): SqlSettings {
  const [claims, setClaims] = useState<Subject | null>(null);
  const [transaction, setTransaction] = useState<TransactionMode>("one");
  return {
    subject: claims ?? fromAddress,
    onSubject: (subject) => {
      setClaims(subject.kind === "claims" ? subject : null);
      onParam(subjectToParam(subject));
    },
    transaction,
    onTransaction: setTransaction,
  };
}
