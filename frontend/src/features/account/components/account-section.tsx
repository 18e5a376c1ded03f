import { Button } from "@ui/button";
import { type ReactNode, Suspense, useState } from "react";
import { Progress } from "@/components/ui/progress";
import { lazyPart } from "@/lib/lazy-part";
import { hasCode, messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { signInTooOld, useDeleteAccount } from "../api/delete-account";
import { useExportData } from "../api/export-data";
import { accountClasses } from "./account-classes";
import { accountTexts } from "./account-texts";

const DeleteAccountDialog = lazyPart(
  async () => ({
    default: (await import("./delete-account-dialog")).DeleteAccountDialog,
  }),
  "overlay",
);

/** What a dialog that asks for a new sign-in is told. */
export interface SignInAgain {
  /** Says what the sign-in is for. */
  text: string;
  confirmLabel: string;
  /** The account is being deleted. */
  pending: boolean;
  onSignedIn: () => void;
  onClose: () => void;
}

interface AccountSectionProps {
  /** The text that must be typed before the account is deleted. */
  confirmation: string;
  /** Asks to sign in again, before an account is deleted whose sign-in is too old. */
  renderSignInAgain: (dialog: SignInAgain) => ReactNode;
  /** Ends the sessions of all devices. */
  onSignOutEverywhere: () => void;
  /** Called after the account is deleted. */
  onDeleted: () => void;
}

/** Taking one's data along, ending all sessions, and deleting the account. */
export function AccountSection(props: AccountSectionProps) {
  return (
    <section aria-labelledby="account-title" className={accountClasses.section}>
      <h2 id="account-title" className="font-serif text-heading">
        {accountTexts.title}
      </h2>
      <ExportData />
      <div className={accountClasses.line}>
        <p className={accountClasses.hint}>{accountTexts.signOutHint}</p>
        <Button onClick={props.onSignOutEverywhere}>{accountTexts.signOutButton}</Button>
      </div>
      <DeleteAccount {...props} />
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
    <div className={accountClasses.line}>
      <p className={accountClasses.hint}>{accountTexts.exportHint}</p>
      <Button pending={exportData.isPending} onClick={start}>
        {accountTexts.exportButton}
      </Button>
      {exportData.isPending && <Progress label="Collecting your data" value={done} />}
    </div>
  );
}

/** What is asked at the moment: nothing, the confirmation, or to sign in again. */
type Question = "none" | "confirmation" | "sign-in";

function DeleteAccount({ confirmation, renderSignInAgain, onDeleted }: AccountSectionProps) {
  const [question, setQuestion] = useState<Question>("none");
  const deleteAccount = useDeleteAccount();
  const close = () => setQuestion("none");

  function confirm(typed: string) {
    deleteAccount.mutate(typed, {
      onSuccess: () => {
        toast("Account deleted", "Your profile, files and sessions are gone.");
        onDeleted();
      },
      onError: (error) => {
        if (hasCode(error, signInTooOld)) {
          setQuestion("sign-in");
          return;
        }
        toast("Your account was not deleted", messageOf(error, "Please try again."), "danger");
      },
    });
  }

  return (
    <div className={accountClasses.line}>
      <p className={accountClasses.hint}>{accountTexts.deleteHint}</p>
      <Button onClick={() => setQuestion("confirmation")}>{accountTexts.deleteButton}</Button>
      <Suspense>
        {question === "confirmation" && (
          <DeleteAccountDialog
            expected={confirmation}
            pending={deleteAccount.isPending}
            onConfirm={confirm}
            onClose={close}
          />
        )}
        {question === "sign-in" &&
          renderSignInAgain({
            text: "Before your account is deleted, show that it is you: your last sign-in was more than ten minutes ago.",
            confirmLabel: accountTexts.deleteButton,
            pending: deleteAccount.isPending,
            // The username was typed already.
            onSignedIn: () => confirm(confirmation),
            onClose: close,
          })}
      </Suspense>
    </div>
  );
}
