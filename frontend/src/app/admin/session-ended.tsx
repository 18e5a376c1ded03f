import type { User } from "@supabase/auth-js";
import { Field } from "@ui/field";
import { useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { PasswordInput } from "@/components/ui/password-input";
import { describeSignInError, useSignIn } from "@/features/auth/api/sign-in";

interface SessionEndedProps {
  /** Whose session has ended. */
  user: User;
  /** Gives up what was typed. */
  onLeave: () => void;
}

/** Over a page with typed text whose session has ended: the same person signs in again, here or in another tab, and goes on. */
export function SessionEnded({ user, onLeave }: SessionEndedProps) {
  const signIn = useSignIn();
  const [password, setPassword] = useState("");
  const { email, app_metadata } = user;
  const methods = app_metadata.providers ?? ["email"];
  const takesPassword = email !== undefined && methods.includes("email");

  function submit() {
    if (email === undefined || password === "" || signIn.isPending) return;
    signIn.mutate({ email, password });
  }

  return (
    <ConfirmDialog
      title="Your session has ended"
      text={
        takesPassword
          ? `Sign in again as ${email}. What you have typed is still here.`
          : "Sign in again in another tab of this browser. What you have typed is still here, and goes on then."
      }
      confirmLabel="Sign in"
      disabled={password === ""}
      pending={signIn.isPending}
      onConfirm={takesPassword ? submit : undefined}
      onClose={onLeave}
    >
      {takesPassword && (
        <form
          className="mt-5"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          <Field
            label="Password"
            error={signIn.isError ? describeSignInError(signIn.error).description : undefined}
          >
            {(attributes) => (
              <PasswordInput
                autoComplete="current-password"
                value={password}
                onChange={(event) => setPassword(event.target.value)}
                {...attributes}
              />
            )}
          </Field>
        </form>
      )}
    </ConfirmDialog>
  );
}
