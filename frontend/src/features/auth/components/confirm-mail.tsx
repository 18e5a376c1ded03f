import { Button } from "@ui/button";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useResendConfirmation } from "../api/mail-code";
import { MailCodeForm } from "./mail-code-form";

interface ConfirmMailProps {
  email: string;
  /** Path that the link in the mail opens. */
  returnPath: string;
  onBack: () => void;
}

/** What can be done while a new account waits for the confirmation of its address: its code, and the mail once more. */
export function ConfirmMail({ email, returnPath, onBack }: ConfirmMailProps) {
  const resend = useResendConfirmation();

  function sendAgain() {
    resend.mutate(
      { email, returnPath },
      {
        onSuccess: () => toast("Sent again", "Please check your inbox.", "success"),
        onError: (error) =>
          toast("Not sent", messageOf(error, "Please wait a minute, and try again."), "danger"),
      },
    );
  }

  return (
    <>
      <MailCodeForm email={email} kind="signup">
        <Button size="lg" pending={resend.isPending} onClick={sendAgain}>
          Send it again
        </Button>
        <Button size="lg" onClick={onBack}>
          Back
        </Button>
      </MailCodeForm>
      <p className="mt-6 text-caption text-ink-soft">
        No mail? Look among unwanted mails. If there is an account with this address already, none
        is sent: go back and log in, or ask for a new password.
      </p>
    </>
  );
}
