import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ApiError } from "@/api/error";
import { type Session, signIn } from "@/api/session";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { Text } from "@/components/text";

const refusals: Record<string, string> = {
  invalid_credentials: "The account or the password is wrong.",
  invalid_code: "The code is wrong or has expired.",
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.code : undefined;

/** The sign-in page. */
export function SignIn({ session }: { session: Session }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [needsCode, setNeedsCode] = useState(false);
  const attempt = useMutation({
    mutationFn: () => signIn(name, password, needsCode ? code : ""),
    onSuccess: () => client.invalidateQueries(),
    onError: (error) => {
      if (codeOf(error) === "code_required") setNeedsCode(true);
      if (codeOf(error) === "invalid_code") setCode("");
    },
  });
  const { error } = attempt;
  const refusal = refusals[codeOf(error) ?? ""];
  const { accounts = true, project = false } = session.sign_in ?? {};
  return (
    <main className="flex h-full items-center justify-center overflow-y-auto bg-rail p-4">
      <form
        className="w-full max-w-sm rounded-md border border-line bg-raised p-6 shadow-raised"
        onSubmit={(event) => {
          event.preventDefault();
          attempt.mutate();
        }}
      >
        {session.mode === "serve" && (
          <div aria-hidden="true" className="-mx-6 -mt-6 mb-5 h-1.5 rounded-t-md bg-production" />
        )}
        <h1 className="truncate font-medium text-name">
          <Text>{session.project.name}</Text>
        </h1>
        <p className="mt-0.5 text-ink-soft">Sign in to the console</p>
        <div className="mt-5 grid gap-3">
          <Field
            label={!project ? "Account" : accounts ? "Account or mail address" : "Mail address"}
          >
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
        <p className="mt-5 border-line border-t pt-3 text-ink-soft text-label">
          {accounts && (
            <>
              Accounts are made on the server by <code>selvedge console user add</code>.{" "}
            </>
          )}
          {project && "Users of the project need a level and a second factor."}
        </p>
      </form>
    </main>
  );
}
