import { Button } from "@ui/button";
import { useState } from "react";
import * as z from "zod/mini";
import { ApiError } from "@/api/error";
import { type Session, signIn } from "@/api/session";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { useEditForm } from "@/lib/forms/use-edit-form";

const refusals: Record<string, string> = {
  invalid_credentials: "The account or the password is wrong.",
  invalid_code: "The code is wrong or has expired.",
};

const codeOf = (error: unknown): string | undefined =>
  error instanceof ApiError ? error.code : undefined;

const withoutCode = z.object({
  name: z.string().check(z.minLength(1, "Enter your account.")),
  password: z.string().check(z.minLength(1, "Enter the password.")),
  code: z.string(),
});
const withCode = z.extend(withoutCode, {
  code: z.string().check(z.trim(), z.minLength(1, "Enter the code.")),
});

const same = <Values,>(values: Values): Values => values;

interface SignInFormProps {
  session: Session;
  /** The account that was signed in before, if there was one. */
  account?: string | undefined;
  onSignedIn: () => void;
}

/** Account, password, and the code of a second factor where one is asked for. */
export function SignInForm({ session, account = "", onSignedIn }: SignInFormProps) {
  const [needsCode, setNeedsCode] = useState(false);
  const edit = useEditForm({
    saved: { name: account, password: "", code: "" },
    valuesOf: same,
    savedOf: same,
    schema: needsCode ? withCode : withoutCode,
    isNew: true,
    write: async ({ values: { name, password, code } }) => {
      await signIn(name, password, needsCode ? code : "").catch((failure: unknown) => {
        if (codeOf(failure) === "code_required") setNeedsCode(true);
        if (codeOf(failure) === "invalid_code") edit.form.setValue("code", "");
        throw failure;
      });
      onSignedIn();
      return null;
    },
  });
  const { error, errors } = edit;
  const { register } = edit.form;
  const refusal = refusals[codeOf(error) ?? ""];
  const { accounts = true, project = false } = session.sign_in ?? {};
  return (
    <form noValidate onSubmit={(event) => void edit.submit(event)}>
      <div className="grid gap-3">
        <Field
          label={!project ? "Account" : accounts ? "Account or mail address" : "Mail address"}
          error={errors.name?.message}
        >
          {(attributes) => (
            <Input
              {...attributes}
              autoComplete="username"
              {...register("name", { onChange: () => setNeedsCode(false) })}
            />
          )}
        </Field>
        <Field label="Password" error={errors.password?.message}>
          {(attributes) => (
            <Input
              {...attributes}
              type="password"
              autoFocus={account !== ""}
              autoComplete="current-password"
              {...register("password")}
            />
          )}
        </Field>
        {needsCode && (
          <Field label="Code of your authenticator app" error={errors.code?.message}>
            {(attributes) => (
              <Input
                {...attributes}
                autoFocus
                mono
                inputMode="numeric"
                autoComplete="one-time-code"
                {...register("code")}
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
        <Button type="submit" variant="primary" size="dense" pending={edit.isSaving}>
          Sign in
        </Button>
      </div>
    </form>
  );
}
