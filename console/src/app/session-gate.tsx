import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { forgetCatalog } from "@/api/catalog";
import { isUnreachable } from "@/api/error";
import { onSecretKept, onSignedOut } from "@/api/secret";
import { isSignedIn, ownerOf, type Session, ShownSession, sessionQuery } from "@/api/session";
import { SignIn } from "@/app/sign-in";
import { ErrorState } from "@/components/error-state";
import { Skeleton } from "@/components/skeleton";

const SignInAgain = lazy(async () => ({
  default: (await import("@/app/sign-in-again")).SignInAgain,
}));
const StagedHandover = lazy(async () => ({
  default: (await import("@/app/staged-handover")).StagedHandover,
}));

/**
 * Shows the console to those who may see it, and the sign-in page where accounts sign in. When a session ends, its screens stay
 * mounted with what was typed in them, and the sign-in is asked for above them.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const session = useQuery({
    ...sessionQuery,
    // Nothing can be shown before the first response, so the request is repeated until the server responds.
    refetchInterval: ({ state }) =>
      state.data === undefined && isUnreachable(state.error) ? 1000 : false,
  });
  /** The session whose screens are shown; it stays when it has ended. */
  const [shown, setShown] = useState<Session | null>(null);
  /** The account that was signed in before the present one, in this page. */
  const [former, setFormer] = useState<Session | null>(null);
  const present = session.data !== undefined && isSignedIn(session.data) ? session.data : null;
  if (present !== null && present !== shown) {
    if (shown !== null && ownerOf(shown) !== ownerOf(present)) setFormer(shown);
    setShown(present);
  }
  useEffect(() => {
    // Queries are not cleared but loaded anew, so that the screens behind the sign-in keep what was typed.
    const refresh = () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    const undo = [
      onSignedOut(() => {
        forgetCatalog();
        refresh();
      }),
      // Also in another tab, whose session is this one's, too.
      onSecretKept(refresh),
    ];
    return () => {
      for (const stop of undo) stop();
    };
  }, [client]);
  const owner = shown === null ? null : ownerOf(shown);
  useEffect(() => {
    if (former === null || former === shown) return;
    // Nothing that the former account has seen is shown to the present one.
    forgetCatalog();
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
  }, [client, former, shown]);
  const projectName = session.data?.project.name;
  useEffect(() => {
    if (projectName !== undefined) document.title = `${projectName} · Console`;
  }, [projectName]);
  if (session.data === undefined && session.isError) {
    return (
      <main className="mx-auto max-w-lg pt-[12vh]">
        <h1 className="sr-only">Console</h1>
        <ErrorState
          title={
            isUnreachable(session.error)
              ? "The server cannot be reached"
              : "The console could not be opened"
          }
          error={session.error}
          safe="Staged edits and typed SQL are kept in this browser. The page opens by itself when the server answers."
          onRetry={() => void session.refetch()}
        />
      </main>
    );
  }
  if (session.data === undefined) {
    return (
      <main aria-busy="true" className="grid h-full md:grid-cols-[10rem_15rem_1fr]">
        <h1 className="sr-only">Loading the console</h1>
        <div className="bg-rail max-md:hidden" />
        <div className="grid content-start gap-3 border-line border-r p-4 max-md:hidden">
          <Skeleton className="h-8" />
          <Skeleton className="h-4 w-4/5" />
          <Skeleton className="h-4 w-3/5" />
        </div>
        <div className="grid content-start gap-3 p-4">
          <Skeleton className="h-8 w-2/5" />
          <Skeleton className="h-40" />
        </div>
      </main>
    );
  }
  if (shown === null) return <SignIn session={session.data} />;
  return (
    <ShownSession value={shown}>
      <Fragment key={owner}>{children}</Fragment>
      <Suspense>
        {present === null && (
          <SignInAgain
            session={session.data}
            account={shown.account?.name}
            onSignedIn={() => void client.invalidateQueries()}
          />
        )}
        {present !== null && former?.project.name === present.project.name && (
          <StagedHandover from={former} to={present} onClose={() => setFormer(null)} />
        )}
      </Suspense>
    </ShownSession>
  );
}
