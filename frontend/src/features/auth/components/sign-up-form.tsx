import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { useForm, useWatch } from "react-hook-form";
import { Link } from "react-router";
import { Input } from "@/components/ui/input";
import { PasswordInput } from "@/components/ui/password-input";
import { UsernameNote } from "@/components/username-note";
import { lazyResolver } from "@/lib/lazy-resolver";
import { paths } from "@/lib/paths";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { usernameAvailableQuery, useUsernameAvailability } from "@/lib/username-availability";
import type { SignUpValues } from "../api/schemas";
import { useSignUp } from "../api/sign-up";

interface SignUpFormProps {
  /** Path that the link in the confirmation mail opens. */
  returnPath: string;
  onSignedIn: () => void;
  onConfirmationSent: (email: string) => void;
}

// The padding makes the links within a sentence large enough for a finger, the margins keep it out of the lines around.
const legalLinkStyle =
  "-mx-2.5 -my-3.5 inline-flex min-h-11 min-w-11 items-center justify-center px-2.5 underline underline-offset-4";

export function SignUpForm({ returnPath, onSignedIn, onConfirmationSent }: SignUpFormProps) {
  const signUp = useSignUp();
  const queryClient = useQueryClient();
  const { register, handleSubmit, formState, control, setValue, setFocus } = useForm<SignUpValues>({
    resolver: lazyResolver(async () => (await import("../api/resolvers")).signUpResolver),
    mode: "onTouched",
    defaultValues: { fullName: "", username: "", email: "", password: "" },
  });
  const { errors } = formState;
  const username = useWatch({ control, name: "username" });
  const availability = useUsernameAvailability(username);

  const submit = handleSubmit(async (values) => {
    // The note under the field lags behind typing, so the name is checked again. A failed check counts as taken.
    const available = await queryClient
      .fetchQuery(usernameAvailableQuery(values.username))
      .catch(() => false);
    if (!available) {
      toast("Username not available", "Please choose a different username.", "danger");
      setFocus("username");
      return;
    }
    signUp.mutate(
      { ...values, returnPath },
      {
        onSuccess: ({ signedIn }) => {
          if (signedIn) {
            toast("Welcome!", "You have been successfully signed in.", "success");
            onSignedIn();
            return;
          }
          toast("Check your email for a confirmation link!", undefined, "success");
          onConfirmationSent(values.email);
        },
        onError: (error) =>
          toast(
            "Error",
            messageOf(error, "An unexpected error occurred. Please try again."),
            "danger",
          ),
      },
    );
  });

  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Full name" error={errors.fullName?.message}>
        {(attributes) => <Input autoComplete="name" {...attributes} {...register("fullName")} />}
      </Field>
      <Field
        label="Username"
        error={errors.username?.message}
        hint={
          <UsernameNote
            {...availability}
            username={username.trim()}
            onChoose={(suggestion) =>
              setValue("username", suggestion, { shouldValidate: true, shouldTouch: true })
            }
          />
        }
      >
        {(attributes) => (
          <Input
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            {...attributes}
            {...register("username")}
          />
        )}
      </Field>
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
      <Field label="Password" error={errors.password?.message} hint="At least 8 characters.">
        {(attributes) => (
          <PasswordInput autoComplete="new-password" {...attributes} {...register("password")} />
        )}
      </Field>
      <Button
        type="submit"
        variant="primary"
        pending={signUp.isPending || formState.isSubmitting}
        size="lg"
        className="mt-1"
      >
        Create Account
      </Button>
      {/* In a tab of their own, so that what is typed stays. */}
      <p className="text-caption text-ink-soft">
        By signing up you accept the{" "}
        <Link to={paths.terms} target="_blank" className={legalLinkStyle}>
          terms
        </Link>
        . What is kept about you is on the page about{" "}
        <Link to={paths.privacy} target="_blank" className={legalLinkStyle}>
          privacy
        </Link>
        .
      </p>
    </form>
  );
}
