import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { ExternalLink } from "lucide-react";
import { CopyButton } from "@/components/copy-button";
import { ErrorNotice } from "@/components/error-state";
import { ActionGroup } from "./action-group";
import { createLink, impersonate, type User } from "./api";

interface ImpersonationProps {
  user: User;
  refusal: string | undefined;
}

/** Ways to see the app as a user: a token for single requests, and a link that really signs in. */
export function Impersonation({ user, refusal }: ImpersonationProps) {
  return (
    <ActionGroup title="See the app as this user">
      <AccessToken userId={user.id} refusal={refusal} />
      <AppLink email={user.email ?? null} refusal={refusal} />
    </ActionGroup>
  );
}

/** A token with which requests run as the user. It is shown once and kept nowhere, also not in the page's cache. */
function AccessToken({ userId, refusal }: { userId: string; refusal: string | undefined }) {
  const token = useMutation({ mutationFn: () => impersonate(userId), gcTime: 0 });
  return (
    <>
      <p className="text-caption text-ink-soft">
        An access token of ten minutes at most, made with the project's own hook. It has no session
        and cannot be renewed. The audit and its claim “act” name you.
      </p>
      {token.data === undefined ? (
        <div>
          <Button
            size="dense"
            disabled={refusal !== undefined}
            title={refusal}
            pending={token.isPending}
            onClick={() => token.mutate()}
          >
            Make a token
          </Button>
        </div>
      ) : (
        <div className="grid gap-2">
          <p
            role="status"
            className="line-clamp-4 break-all rounded-sm border border-line bg-canvas p-2 font-mono text-label"
          >
            {token.data.access_token}
          </p>
          <div className="flex gap-2">
            <CopyButton text={token.data.access_token} label="Copy token" wide />
            <Button size="dense" variant="quiet" onClick={() => token.reset()}>
              Forget it
            </Button>
          </div>
        </div>
      )}
      {token.isError && <ErrorNotice title="No token was made" error={token.error} />}
    </>
  );
}

/** A magic link that is opened in another tab. Unlike the token it makes a session, which is said before. */
function AppLink({ email, refusal }: { email: string | null; refusal: string | undefined }) {
  const link = useMutation({
    mutationFn: (address: string) => createLink("magiclink", address),
    gcTime: 0,
  });
  const reason = refusal ?? (email === null ? "The user has no mail address." : undefined);
  return (
    <>
      <p className="text-caption text-ink-soft">
        The app can also be opened as the user. This makes a real session: it is in the list of the
        user's sessions, it can be renewed, and this browser stays signed in until you sign out.
      </p>
      {link.data === undefined ? (
        <div>
          <Button
            size="dense"
            disabled={reason !== undefined}
            title={reason}
            pending={link.isPending}
            onClick={() => {
              if (email !== null) link.mutate(email);
            }}
          >
            Make a link into the app
          </Button>
        </div>
      ) : (
        <a
          href={link.data.action_link}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 text-caption underline underline-offset-2"
        >
          <ExternalLink aria-hidden="true" className="size-3.5" />
          Open the app as {email}
        </a>
      )}
      {link.isError && <ErrorNotice title="No link was made" error={link.error} />}
    </>
  );
}
