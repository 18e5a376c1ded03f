import { Button } from "@ui/button";
import { lazy, Suspense, useState } from "react";
import { Progress } from "@/components/ui/progress";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useDeleteAccount } from "../api/delete-account";
import { useExportData } from "../api/export-data";
import { accountTexts } from "./account-texts";

const DeleteAccountDialog = lazy(async () => ({
  default: (await import("./delete-account-dialog")).DeleteAccountDialog,
}));

interface AccountSectionProps {
  /** The text that must be typed before the account is deleted. */
  confirmation: string;
  /** Called after the account is deleted. */
  onDeleted: () => void;
}

/** Taking one's data along, and deleting the account. */
export function AccountSection({ confirmation, onDeleted }: AccountSectionProps) {
  return (
    <section
      aria-labelledby="account-title"
      className="mt-16 max-w-2xl border-line border-t pt-10 max-md:mt-12"
    >
      <h2 id="account-title" className="font-serif text-heading">
        {accountTexts.title}
      </h2>
      <ExportData />
      <DeleteAccount confirmation={confirmation} onDeleted={onDeleted} />
    </section>
  );
}

function ExportData() {
  const exportData = useExportData();
  const [done, setDone] = useState(0);

  function start() {
    setDone(0);
    exportData.mutate(setDone, {
      onSuccess: () => toast("Your data is ready", "The download has started.", "success"),
      onError: (error) =>
        toast("Your data could not be exported", messageOf(error, "Please try again."), "danger"),
    });
  }

  return (
    <div className="mt-6 flex flex-wrap items-center justify-between gap-x-8 gap-y-3">
      <p className="min-w-0 flex-1 basis-64 text-ink-soft text-small">{accountTexts.exportHint}</p>
      <Button pending={exportData.isPending} onClick={start}>
        {accountTexts.exportButton}
      </Button>
      {exportData.isPending && <Progress label="Collecting your data" value={done} />}
    </div>
  );
}

function DeleteAccount({ confirmation, onDeleted }: AccountSectionProps) {
  const [isAsking, setAsking] = useState(false);
  const deleteAccount = useDeleteAccount();

  function confirm(typed: string) {
    deleteAccount.mutate(typed, {
      onSuccess: () => {
        toast("Account deleted", "Your profile, files and sessions are gone.");
        onDeleted();
      },
      onError: (error) =>
        toast("Your account was not deleted", messageOf(error, "Please try again."), "danger"),
    });
  }

  return (
    <div className="mt-6 flex flex-wrap items-center justify-between gap-x-8 gap-y-3">
      <p className="min-w-0 flex-1 basis-64 text-ink-soft text-small">{accountTexts.deleteHint}</p>
      <Button onClick={() => setAsking(true)}>{accountTexts.deleteButton}</Button>
      {isAsking && (
        <Suspense>
          <DeleteAccountDialog
            expected={confirmation}
            pending={deleteAccount.isPending}
            onConfirm={confirm}
            onClose={() => setAsking(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
