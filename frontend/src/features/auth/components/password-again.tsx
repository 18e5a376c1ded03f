import { Field } from "@ui/field";
import { useState } from "react";
import { PasswordInput } from "@/components/ui/password-input";
import { describeSignInError, useSignIn } from "../api/sign-in";

/** What a dialog needs to ask for the password of a known address once more. */
export interface PasswordAgain {
  password: string;
  setPassword: (password: string) => void;
  error: string | undefined;
  isPending: boolean;
  submit: () => void;
}

/** Signs in as `email` with the typed password. Nothing is sent without both, or while an attempt runs. */
export function usePasswordAgain(
  email: string | undefined,
  onSignedIn?: () => void,
): PasswordAgain {
  const signIn = useSignIn();
  const [password, setPassword] = useState("");
  function submit() {
    if (email === undefined || password === "" || signIn.isPending) return;
    signIn.mutate({ email, password }, onSignedIn && { onSuccess: onSignedIn });
  }
  const error = signIn.isError ? describeSignInError(signIn.error).description : undefined;
  return { password, setPassword, error, isPending: signIn.isPending, submit };
}

interface PasswordAgainFormProps {
  again: PasswordAgain;
  /** What Enter does; by default it signs in. */
  onSubmit?: () => void;
}

/** The field for the password. Enter submits it, beside the button of the dialog. */
export function PasswordAgainForm({ again, onSubmit = again.submit }: PasswordAgainFormProps) {
  return (
    <form
      className="mt-5"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <Field label="Password" error={again.error}>
        {(attributes) => (
          <PasswordInput
            autoComplete="current-password"
            value={again.password}
            onChange={(event) => again.setPassword(event.target.value)}
            {...attributes}
          />
        )}
      </Field>
    </form>
  );
}
