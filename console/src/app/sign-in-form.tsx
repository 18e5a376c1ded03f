import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ApiError } from "@/api/error";
import { type Session, signIn } from "@/api/session";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";

const refusals: Record<string, string> = {
  invalid_credentials: "The account or the password is wrong.",
  invalid_code: "The code is wrong or has expired.",
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.code : undefined;

interface SignInFormProps {
  session: Session;
  /** The account that was signed in before, if there was one. */
  account?: string | undefined;
  onSignedIn: () => void;
}

/** Account, password, and the code of a second factor where one is asked for. */
export function SignInForm({ session, account = "", onSignedIn }: SignInFormProps) {
  const [name, setName] = useState(account);
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const attempt = useMutation({
    mutationFn: () => signIn(name, password, needsCode ? code : ""),
    onSuccess: onSignedIn,
    onError: (error) => {
      if (codeOf(error) === "code_required") setNeedsCode(true);
      if (codeOf(error) === "invalid_code") setCode("");
    },
  });
  const { error } = attempt;
  const refusal = refusals[codeOf(error) ?? ""];
  const { accounts = true, project = false } = session.sign_in ?? {};
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <div className="grid gap-3">
        <Field label={!project ? "Account" : accounts ? "Account or mail address" : "Mail address"}>
          {(attributes) => (
            <Input
              {...attributes}
              autoComplete="username"
              required
              value={name}
              onChange={(event) => {
                setName(event.target.value);
                setNeedsCode(false);
              }}
            />
          )}
        </Field>
        <Field label="Password">
          {(attributes) => (
            <Input
              {...attributes}
              type="password"
              autoFocus={account !== ""}
              autoComplete="current-password"
              required
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        {needsCode && (
          <Field label="Code of your authenticator app">
            {(attributes) => (
              <Input
                {...attributes}
                autoFocus
                mono
                inputMode="numeric"
                autoComplete="one-time-code"
                required
                value={code}
                onChange={(event) => setCode(event.target.value)}
              />
            )}
          </Field>
        )}
        {refusal !== undefined && (
          <p role="alert" className="text-danger">
            {refusal}
          </p>
        )}
        {error !== null && refusal === undefined && codeOf(error) !== "code_required" && (
          <ErrorNotice title="You could not be signed in" error={error} />
        )}
        <Button type="submit" variant="primary" size="dense" pending={attempt.isPending}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
