import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import { providersQuery, signInWithProvider } from "../api/providers";
import { PasswordAgainForm, usePasswordAgain } from "./password-again";
import { providerLabel } from "./provider-buttons-shape";

interface SignInAgainDialogProps {
  /** Says what the sign-in is for. */
  text: string;
  confirmLabel: string;
  email: string | undefined;
  /** What the account can sign in with, as the auth service lists it: `email` is a password, all else a provider. */
  methods: readonly string[];
  /** The page that a provider leads back to. */
  returnPath: string;
  /** The action runs that the sign-in was for; the dialog stays open. */
  pending: boolean;
  onSignedIn: () => void;
  onClose: () => void;
}

/** Asks a signed-in person to show once more who they are: by the password, or at an identity provider of the account. */
export function SignInAgainDialog({
  text,
  confirmLabel,
  email,
  methods,
  returnPath,
  pending,
  onSignedIn,
  onClose,
}: SignInAgainDialogProps) {
  const { data: providers = [] } = useQuery(providersQuery());
  const own = providers.filter(({ id }) => methods.includes(id));
  const again = usePasswordAgain(email, onSignedIn);
  const hasPassword = email !== undefined && (methods.includes("email") || methods.length === 0);
  const isBusy = pending || again.isPending;

  function submit() {
    if (!pending) again.submit();
  }

  function open(provider: (typeof own)[number]["id"]) {
    signInWithProvider(provider, returnPath).catch((error: unknown) =>
      toast(
        "Authentication Error",
        messageOf(error, "An unexpected error occurred. Please try again."),
        "danger",
      ),
    );
  }

  return (
    <ConfirmDialog
      title="Sign in again"
      text={text}
      confirmLabel={confirmLabel}
      disabled={again.password === ""}
      pending={isBusy}
      onConfirm={hasPassword ? submit : undefined}
      onClose={onClose}
    >
      {hasPassword && <PasswordAgainForm again={again} onSubmit={submit} />}
      {own.length > 0 && (
        <div className="mt-5 flex flex-col gap-3">
          {own.map(({ id, label }) => (
            <Button key={id} onClick={() => open(id)} disabled={isBusy}>
              {providerLabel(label)}
            </Button>
          ))}
          <p className="text-caption text-ink-soft">
            You come back to this page. Choose {confirmLabel} once more within ten minutes.
          </p>
        </div>
      )}
      {!hasPassword && own.length === 0 && (
        <p className="mt-5 text-small">
          Sign out and sign in, then choose {confirmLabel} once more within ten minutes.
        </p>
      )}
    </ConfirmDialog>
  );
}
