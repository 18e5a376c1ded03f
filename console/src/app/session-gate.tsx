import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Fragment, type ReactNode, useEffect, useLayoutEffect, useState } from "react";
import { forgetCatalog } from "@/api/catalog";
import { isUnreachable } from "@/api/error";
import { onOtherProject, showProject } from "@/api/project";
import { onSecretForgotten, onSecretKept, onSignedOut } from "@/api/secret";
import {
  isSameProject,
  isSignedIn,
  ownerOf,
  type Session,
  ShownSession,
  sessionQuery,
} from "@/api/session";
import { ErrorState } from "@/components/error-state";
import { Skeleton } from "@/components/skeleton";
import { lazyModule, useRetriedModule } from "@/lib/lazy-module";
import { listLeftOvers } from "@/lib/rows/left-overs";
import { toast } from "@/lib/toast";
import { isHeldFor } from "@/lib/until-reload";

// Scripts of their own, because most pages are opened by somebody who is signed in. They are loaded without React's `lazy`, which
// would take the whole page away, and what is typed in it, where a script cannot be loaded.
const signIn = lazyModule(() => import("@/app/sign-in"));
const signInAgain = lazyModule(() => import("@/app/sign-in-again"));
const handover = lazyModule(() => import("@/app/staged-handover"));

/**
 * Shows the console to those who may see it, and the sign-in page where accounts sign in. When a session ends, its screens stay
 * mounted with what was typed in them, and the sign-in is asked for above them. When another project answers at this address, the
 * screens stay, too, and their requests are refused.
 */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  /** The session whose screens are shown; it stays when it has ended. */
  const [shown, setShown] = useState<Session | null>(null);
  /** The account that was signed in before the present one, in this page. */
  const [former, setFormer] = useState<Session | null>(null);
  const session = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state: { data, error } }) => {
      // Nothing can be shown before the first response, so the request is repeated until the server responds.
      if (data === undefined) return isUnreachable(error) ? 1000 : false;
      // Until the key is known, and while another project is here, whose place the former may take again.
      return data.project.key === null || isOther(shown, data) ? 1000 : false;
    },
  });
  const isOfOther = isOther(shown, session.data);
  const present =
    session.data !== undefined && !isOfOther && isSignedIn(session.data) ? session.data : null;
  if (present !== null && present !== shown && !isWithoutKnownKey(present, shown)) {
    if (shown !== null && ownerOf(shown) !== ownerOf(present)) setFormer(shown);
    setShown(present);
  }
  const isCovered = present === null && !isOfOther;
  useSessionEvents(client);
  const owner = shown === null ? null : ownerOf(shown);
  const isCleared = useClearedCache(client, owner, former);
  useHeldTextNotice(former);
  useEffect(() => {
    if (session.data !== undefined && shown === null) {
      document.title = `${session.data.project.name} · Console`;
    }
  }, [session.data, shown]);
  if (session.data === undefined) {
    return session.isError ? (
      <NoAnswer error={session.error} onRetry={() => void session.refetch()} />
    ) : (
      <Loading />
    );
  }
  if (shown === null) return <FirstSignIn session={session.data} />;
  return (
    <ShownSession value={shown}>
      <RequestsOf session={shown} />
      <div className="contents" inert={isCovered}>
        {isCleared && <Fragment key={owner}>{children}</Fragment>}
      </div>
      <Cover
        session={session.data}
        account={shown.account?.name}
        isOpen={isCovered}
        onSignedIn={() => void client.invalidateQueries()}
      />
      {present !== null && <LeftOvers session={shown} former={former} />}
    </ShownSession>
  );
}

/** The sign-in page. Its requests name the project that it shows: a password is not sent to another one. */
function FirstSignIn({ session }: { session: Session }) {
  const { found, hasFailed } = useRetriedModule(signIn, "now");
  return (
    <>
      <RequestsOf session={session} />
      {found !== undefined ? (
        <found.SignIn session={session} />
      ) : hasFailed ? (
        <main className="grid h-full place-items-center p-4">
          <MissingScript />
        </main>
      ) : (
        <Loading />
      )}
    </>
  );
}

interface CoverProps {
  session: Session;
  account: string | undefined;
  isOpen: boolean;
  onSignedIn: () => void;
}

/**
 * Hides the screens at once when their session has ended, so that the next person does not read rows of the account, and asks for
 * sign-in. Its script is loaded before it is needed, because the server may be another one by then.
 */
function Cover({ session, account, isOpen, onSignedIn }: CoverProps) {
  const { found, hasFailed } = useRetriedModule(signInAgain, isOpen ? "now" : "idle");
  if (!isOpen) return null;
  return (
    <>
      <div className="fixed inset-0 z-60 grid place-items-center bg-canvas p-4">
        {found === undefined && hasFailed && <MissingScript />}
      </div>
      {found !== undefined && (
        <found.SignInAgain session={session} account={account} onSignedIn={onSignedIn} />
      )}
    </>
  );
}

/** Said while a script cannot be loaded; it is tried again. */
function MissingScript() {
  return (
    <div role="alert" className="max-w-md text-caption">
      <p className="font-medium text-small">The sign-in cannot be loaded</p>
      <p className="mt-1 text-ink-soft">
        The server is away, or newer than this page. It is tried again every two seconds, and what
        you typed stays as long as you do not reload the page.
      </p>
      <Button size="dense" className="mt-3" onClick={() => window.location.reload()}>
        Reload the page
      </Button>
    </div>
  );
}

function isOther(shown: Session | null, loaded: Session | undefined): boolean {
  return shown !== null && loaded !== undefined && !isSameProject(shown, loaded);
}

/** Whether a session lacks the key of its project, which is known from before: its database is away for the moment. */
function isWithoutKnownKey(present: Session, shown: Session | null): boolean {
  const isKnown = shown !== null && (shown.project.key ?? null) !== null;
  return isKnown && (present.project.key ?? null) === null && ownerOf(present) === ownerOf(shown);
}

/** Names the project in the requests of the screens. It stands before them, so that its effect runs before theirs. */
function RequestsOf({ session }: { session: Session }): null {
  const key = session.project.key ?? null;
  useLayoutEffect(() => showProject(key), [key]);
  return null;
}

/** Loads the session anew when it may have changed. The screens keep what was typed, because nothing else is cleared. */
function useSessionEvents(client: QueryClient): void {
  useEffect(() => {
    const refresh = () => void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    const undo = [
      onSignedOut(() => {
        forgetCatalog();
        refresh();
      }),
      // Also in another tab, whose session is this one's, too.
      onSecretKept(refresh),
      onSecretForgotten(() => {
        forgetCatalog();
        // Covered at once, also where the server cannot be asked.
        client.setQueryData(sessionQuery.queryKey, (known) =>
          known?.login ? { ...known, account: null } : known,
        );
        refresh();
      }),
      onOtherProject(refresh),
    ];
    return () => {
      for (const stop of undo) stop();
    };
  }, [client]);
}

/**
 * Removes what another account has read before the screens of the present one are made. Returns whether they may be: a query that
 * is removed later would already have shown its rows.
 */
function useClearedCache(client: QueryClient, owner: string | null, former: Session | null) {
  const [clearedFor, setClearedFor] = useState<string | null>(null);
  const isCleared = former === null || clearedFor === owner;
  useLayoutEffect(() => {
    if (isCleared) return;
    forgetCatalog();
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
    setClearedFor(owner);
  }, [client, isCleared, owner]);
  return isCleared;
}

/** Tells the next account why the browser asks before a reload: it does not see what the former one has typed on other screens. */
function useHeldTextNotice(former: Session | null): void {
  useEffect(() => {
    if (former === null || !isHeldFor(ownerOf(former))) return;
    toast({
      title: `${former.account?.name ?? "Somebody else"} has typed text that was not saved`,
      description: "It waits in this tab for them, and a reload would lose it: the browser asks.",
      durationMs: 30_000,
    });
  }, [former]);
}

/** Asks about changes that wait in this browser for another account, or for another database of this name. */
function LeftOvers({ session, former }: { session: Session; former: Session | null }) {
  const [asked, setAsked] = useState<readonly string[]>([]);
  const next = listLeftOvers(session, former).find(({ store }) => !asked.includes(store));
  const { found } = useRetriedModule(handover, next === undefined ? "idle" : "now");
  if (next === undefined || found === undefined) return null;
  const close = () => setAsked((before) => [...before, next.store]);
  return <found.StagedHandover key={next.store} leftOver={next} to={session} onClose={close} />;
}

function NoAnswer({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <main className="mx-auto max-w-lg pt-[12vh]">
      <h1 className="sr-only">Console</h1>
      <ErrorState
        title={
          isUnreachable(error) ? "The server cannot be reached" : "The console could not be opened"
        }
        error={error}
        safe="Staged edits and typed SQL are kept in this browser. The page opens by itself when the server answers."
        onRetry={onRetry}
      />
    </main>
  );
}

function Loading() {
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
