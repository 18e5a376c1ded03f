import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { LoadingPage } from "@ui/spinner";
import { Suspense, useState } from "react";
import { useForm } from "react-hook-form";
import { Input } from "@/components/ui/input";
import { lazyPart } from "@/lib/lazy-part";
import { lazyResolver } from "@/lib/lazy-resolver";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { useRequestPasswordReset } from "../api/reset-password";
import type { ForgotPasswordValues } from "../api/schemas";

const MailCodeForm = lazyPart(async () => ({
  default: (await import("./mail-code-form")).MailCodeForm,
}));

export function ForgotPasswordForm({ onBack }: { onBack: () => void }) {
  const request = useRequestPasswordReset();
  const [sentTo, setSentTo] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm<ForgotPasswordValues>({
    resolver: lazyResolver(async () => (await import("../api/resolvers")).forgotPasswordResolver),
    mode: "onTouched",
    defaultValues: { email: "" },
  });

  const submit = handleSubmit((values) =>
    request.mutate(values, {
      onSuccess: () => {
        toast("Password reset email sent.", "Please check your inbox.", "success");
        setSentTo(values.email);
      },
      onError: (error) =>
        toast(
          "Error",
          messageOf(error, "An unexpected error occurred. Please try again."),
          "danger",
        ),
    }),
  );

  if (sentTo !== null) {
    return (
      <Suspense fallback={<LoadingPage />}>
        <p className="mb-5 text-small">
          If there is an account of {sentTo}, a mail with a link and a code is on its way.
        </p>
        <MailCodeForm email={sentTo} kind="recovery">
          <Button size="lg" onClick={() => setSentTo(null)}>
            Back
          </Button>
        </MailCodeForm>
      </Suspense>
    );
  }

  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Email" error={formState.errors.email?.message}>
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
      <Button
        type="submit"
        variant="primary"
        pending={request.isPending}
        size="lg"
        className="mt-1"
      >
        Send Reset Link
      </Button>
      <Button variant="quiet" onClick={onBack}>
        Back
      </Button>
    </form>
  );
}
