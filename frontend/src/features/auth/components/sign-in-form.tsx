import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { useForm } from "react-hook-form";
import { Input } from "@/components/ui/input";
import { PasswordInput } from "@/components/ui/password-input";
import { lazyResolver } from "@/lib/lazy-resolver";
import { hasCode } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import type { SignInValues } from "../api/schemas";
import { describeSignInError, useSignIn } from "../api/sign-in";

interface SignInFormProps {
  onForgotPassword: () => void;
  /** The password is right, and the address was never confirmed. */
  onUnconfirmed: (email: string) => void;
  onSignedIn: () => void;
}

export function SignInForm({ onForgotPassword, onUnconfirmed, onSignedIn }: SignInFormProps) {
  const signIn = useSignIn();
  const { register, handleSubmit, formState } = useForm<SignInValues>({
    resolver: lazyResolver(async () => (await import("../api/resolvers")).signInResolver),
    mode: "onTouched",
    defaultValues: { email: "", password: "" },
  });
  const { errors } = formState;

  const submit = handleSubmit((values) =>
    signIn.mutate(values, {
      onSuccess: () => {
        toast("Welcome back!", "You have successfully logged in.", "success");
        onSignedIn();
      },
      onError: (error) => {
        const { title, description } = describeSignInError(error);
        toast(title, description, "danger");
        if (hasCode(error, "email_not_confirmed")) onUnconfirmed(values.email);
      },
    }),
  );

  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Email" error={errors.email?.message}>
        {(attributes) => (
          <Input
            type="email"
            autoComplete="email"
            inputMode="email"
            {...attributes}
            {...register("email")}
          />
        )}
      </Field>
      <Field
        label="Password"
        error={errors.password?.message}
        aside={
          <button
            type="button"
            onClick={onForgotPassword}
            className="-my-2.5 inline-flex min-h-11 items-center text-caption text-ink-soft underline decoration-line-strong underline-offset-4 hover:text-ink"
          >
            Forgot password?
          </button>
        }
      >
        {(attributes) => (
          <PasswordInput
            autoComplete="current-password"
            {...attributes}
            {...register("password")}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" pending={signIn.isPending} size="lg" className="mt-1">
        Sign In
      </Button>
    </form>
  );
}
