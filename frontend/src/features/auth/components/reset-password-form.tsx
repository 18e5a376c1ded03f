import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { useForm } from "react-hook-form";
import { PasswordInput } from "@/components/ui/password-input";
import { lazyResolver } from "@/lib/lazy-resolver";
import { hasCode } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useResetPassword } from "../api/reset-password";
import type { ResetPasswordValues } from "../api/schemas";

export function ResetPasswordForm({ onDone }: { onDone: () => void }) {
  const reset = useResetPassword();
  const { register, handleSubmit, formState, setError } = useForm<ResetPasswordValues>({
    resolver: lazyResolver(async () => (await import("../api/resolvers")).resetPasswordResolver),
    mode: "onTouched",
    defaultValues: { password: "", confirmation: "" },
  });
  const { errors } = formState;

  const submit = handleSubmit((values) =>
    reset.mutate(values, {
      onSuccess: () => {
        toast("Password updated", undefined, "success");
        onDone();
      },
      onError: (error) => {
        if (hasCode(error, "weak_password")) {
          setError("password", {
            message:
              "Password must be at least 8 characters with uppercase, lowercase, and numbers.",
          });
        } else if (hasCode(error, "same_password")) {
          setError("password", { message: "Choose a password that differs from the old one." });
        } else {
          toast(
            "Reset failed",
            "Unable to reset password. Please try again or request a new reset link.",
            "danger",
          );
        }
      },
    }),
  );

  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <Field
        label="New Password"
        error={errors.password?.message}
        hint="At least 8 characters with uppercase, lowercase, and numbers."
      >
        {(attributes) => (
          <PasswordInput autoComplete="new-password" {...attributes} {...register("password")} />
        )}
      </Field>
      <Field label="Confirm Password" error={errors.confirmation?.message}>
        {(attributes) => (
          <PasswordInput
            autoComplete="new-password"
            {...attributes}
            {...register("confirmation")}
          />
        )}
      </Field>
      <Button type="submit" variant="primary" pending={reset.isPending} size="lg" className="mt-1">
        Reset Password
      </Button>
    </form>
  );
}
