import { LoadingPage } from "@ui/spinner";
import { useEffect, useRef } from "react";
import { Navigate, Outlet, useLocation } from "react-router";
import { forgetOwnSignOut, isOwnSignOut } from "@/lib/own-sign-out";
import { paths, type ReturnState } from "@/lib/paths";
import { useSession } from "@/lib/session";

/**
 * Route around the pages of signed-in users. Visitors are sent to the sign-in page, which sends them back afterwards; so is a
 * user whose session ends while the page is open. This is a courtesy: the database refuses what is not theirs.
 */
export function RequireUser() {
  const { user, isLoading } = useSession();
  const { pathname, search, hash } = useLocation();
  const userId = user?.id ?? null;
  const hadUser = useRef(false);
  useEffect(() => {
    if (userId === null) return;
    hadUser.current = true;
    forgetOwnSignOut();
  }, [userId]);
  if (isLoading) return <LoadingPage />;
  // A user who signs out here is not sent to the sign-in page.
  if (user === null && hadUser.current && isOwnSignOut())
    return <Navigate to={paths.explore} replace />;
  if (user === null) {
    const state: ReturnState = { from: `${pathname}${search}${hash}` };
    return <Navigate to={paths.auth} state={state} replace />;
  }
  return (
    <>
      {/* Addresses of private photos are signed: other sites must not learn them, nor the page they are on. */}
      <meta name="referrer" content="same-origin" />
      <Outlet />
    </>
  );
}
