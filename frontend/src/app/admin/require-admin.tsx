import { useQuery } from "@tanstack/react-query";
import { LoadingPage } from "@ui/spinner";
import { type ReactNode, useEffect, useState } from "react";
import { Navigate, useLocation } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { adminCheckQuery } from "@/lib/admin-check";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";
import { AccessDenied } from "./access-denied";

/**
 * Shows its children to administrators. Visitors are sent to the sign-in page, other users see that they lack the
 * permission, and a user who loses it while the area is open is sent to the home page.
 */
export function RequireAdmin({ children }: { children: ReactNode }) {
  const { user, isLoading } = useSession();
  const location = useLocation();
  if (isLoading) return <LoadingPage />;
  if (user === null) {
    const state: ReturnState = { from: `${location.pathname}${location.search}` };
    return <Navigate to={paths.auth} state={state} replace />;
  }
  // The key starts the check anew when another user signs in.
  return (
    <CheckedArea key={user.id} userId={user.id}>
      {children}
    </CheckedArea>
  );
}

function CheckedArea({ userId, children }: { userId: string; children: ReactNode }) {
  const check = useQuery(adminCheckQuery(userId));
  const [wasAdmin, setWasAdmin] = useState(false);
  const { isFetchedAfterMount } = check;
  useEffect(() => {
    if (isFetchedAfterMount && check.data === true) setWasAdmin(true);
  }, [isFetchedAfterMount, check.data]);

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
