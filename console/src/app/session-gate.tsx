import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import { forgetCatalog } from "@/api/catalog";
import { isUnreachable } from "@/api/error";
import { onSignedOut } from "@/api/secret";
import { isSignedIn, sessionQuery } from "@/api/session";
import { SignIn } from "@/app/sign-in";
import { ErrorState } from "@/components/error-state";
import { Skeleton } from "@/components/skeleton";

/** Shows the console to those who may see it, and the sign-in page where accounts sign in. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const session = useQuery({
    ...sessionQuery,
    // Nothing can be shown before the first response, so the request is repeated until the server responds.
    refetchInterval: ({ state }) =>
      state.data === undefined && isUnreachable(state.error) ? 1000 : false,
  });
  useEffect(
    () =>
      onSignedOut(() => {
        forgetCatalog();
        // Queries are not cleared but loaded anew, so that the page behind the sign-in keeps what was typed.
        void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      }),
    [client],
  );
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
  return isSignedIn(session.data) ? children : <SignIn session={session.data} />;
}
