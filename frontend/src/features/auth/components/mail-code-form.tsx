import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { type FormEvent, type ReactNode, useState } from "react";
import { Input } from "@/components/ui/input";
import { hasCode, messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { type MailCodeKind, useMailCode } from "../api/mail-code";

interface MailCodeFormProps {
  email: string;
  kind: MailCodeKind;
  /** The buttons beside the one of the form. */
  children: ReactNode;
}

/** Takes the code of a mail, in place of its link. Whoever has entered it is signed in. */
export function MailCodeForm({ email, kind, children }: MailCodeFormProps) {
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState<string>();
  const verify = useMailCode();

  function submit(event: FormEvent) {
    event.preventDefault();
    const digits = code.replace(/\D/g, "");
    if (digits.length < 6) {
      setProblem("Please enter the code from the mail.");
      return;
    }
    verify.mutate(
      { email, kind, code: digits },
      {
        onSuccess: () => {
          if (kind === "signup")
            toast("Welcome!", "You have been successfully signed in.", "success");
        },
        onError: (error) =>
          setProblem(
            hasCode(error, "otp_expired")
              ? "The code is wrong or too old."
              : messageOf(error, "The code could not be checked. Please try again."),
          ),
      },
    );
  }

  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Code from the mail" error={problem} hint="Instead of opening the link.">
        {(attributes) => (
          <Input
            {...attributes}
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onChange={(event) => {
              setCode(event.target.value);
              setProblem(undefined);
            }}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" size="lg" pending={verify.isPending}>
          Confirm
        </Button>
        {children}
      </div>
    </form>
  );
}
