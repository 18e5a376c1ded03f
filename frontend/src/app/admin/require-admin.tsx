import { useQuery } from "@tanstack/react-query";
import { LoadingPage } from "@ui/spinner";
import { hasTypedText } from "@ui/typed-forms";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { Navigate, useLocation } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { adminCheckQuery } from "@/lib/admin-check";
import { lazyPart } from "@/lib/lazy-part";
import { forgetOwnSignOut, isOwnSignOut } from "@/lib/own-sign-out";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";
import { AccessDenied } from "./access-denied";

const SessionEnded = lazyPart(
  async () => ({ default: (await import("./session-ended")).SessionEnded }),
  "overlay",
);

/**
 * Shows its children to administrators. Visitors are sent to the sign-in page, other users see that they lack the
 * permission, and a user who loses it while the area is open is sent to the home page. When a session ends while something is
 * typed, by its expiry or in another tab, the same person is asked to sign in over the page.
 */
export function RequireAdmin({ children }: { children: ReactNode }) {
  const { user, isLoading } = useSession();
  const location = useLocation();
  const [shown, setShown] = useState(user);
  const [isGivenUp, setGivenUp] = useState(false);
  if (user !== null && user !== shown) setShown(user);
  useEffect(() => {
    if (user !== null) forgetOwnSignOut();
  }, [user]);
  if (isLoading) return <LoadingPage />;
  const isAwaited = user === null && shown !== null && !isOwnSignOut() && hasTypedText();
  const present = user ?? (isAwaited && !isGivenUp ? shown : null);
  if (present === null) {
    const state: ReturnState = { from: `${location.pathname}${location.search}` };
    return <Navigate to={paths.auth} state={state} replace />;
  }
  return (
    <>
      <div className="contents" inert={user === null}>
        {/* The key starts the check anew when another user signs in. */}
        <CheckedArea key={present.id} userId={present.id} isAwaited={user === null}>
          {children}
        </CheckedArea>
      </div>
      {user === null && (
        <Suspense>
          <SessionEnded user={present} onLeave={() => setGivenUp(true)} />
        </Suspense>
      )}
    </>
  );
}

interface CheckedAreaProps {
  userId: string;
  /** Whether the session has ended and the person is asked to sign in again. */
  isAwaited: boolean;
  children: ReactNode;
}

function CheckedArea({ userId, isAwaited, children }: CheckedAreaProps) {
  const check = useQuery({ ...adminCheckQuery(userId), enabled: !isAwaited });
  const [wasAdmin, setWasAdmin] = useState(false);
  const { isFetchedAfterMount } = check;
  useEffect(() => {
    if (isFetchedAfterMount && check.data === true) setWasAdmin(true);
  }, [isFetchedAfterMount, check.data]);

  // The former answer was forgotten with the session. The database asks again at each request.
  if (isAwaited || (wasAdmin && check.data === undefined)) return children;
  // A result from before the area was entered is not used, unless it was loaded in here.
  if (!isFetchedAfterMount && !wasAdmin) return <LoadingPage label="Checking permissions..." />;
  if (check.data === true) return children;
  if (check.data === false) {
    return wasAdmin ? <Navigate to={paths.explore} replace /> : <AccessDenied />;
  }
  return (
    <ErrorNotice
      title="Your permissions could not be checked."
      error={check.error}
      onRetry={() => void check.refetch()}
    />
  );
}
