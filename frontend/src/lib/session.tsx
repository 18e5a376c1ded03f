import type { Session, User } from "@supabase/auth-js";
import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useState,
} from "react";
import type { Database } from "@/lib/database";
import { stale } from "@/lib/query-client";
import { outfitKeys } from "@/lib/query-keys";
import { resultOf, rowsOf } from "@/lib/service-error";
import { sessionKey } from "@/lib/services";
import {
  isAuthWanted,
  loadAuth,
  loadUserRequests,
  mayHaveSession,
  onAuthWanted,
  supabase,
} from "@/lib/supabase";
import { toast } from "@/lib/toast";

export type Profile = Database["public"]["Tables"]["profiles"]["Row"];

export const myProfileKey = (userId: string) => ["profiles", "mine", userId] as const;

/** The signed-in user's profile. A database trigger creates it at sign-up; null until then. */
export function myProfileQuery(userId: string) {
  return queryOptions({
    queryKey: myProfileKey(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }) =>
      resultOf(
        await supabase
          .from("profiles")
          .select("*")
          .eq("id", userId)
          .abortSignal(signal)
          .maybeSingle(),
      ),
  });
}

export const isAdminKey = (userId: string) => ["profiles", "is-admin", userId] as const;

/**
 * Whether the signed-in user is an administrator according to the database. It determines what is shown; policies
 * determine what is allowed.
 */
function isAdminQuery(userId: string) {
  return queryOptions({
    queryKey: isAdminKey(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }) => rowsOf(await supabase.rpc("is_admin_role").abortSignal(signal)),
  });
}

export interface SessionState {
  user: User | null;
  profile: Profile | null;
  /** False for visitors, and until the database has answered. */
  isAdmin: boolean;
  /** True until the auth client has read the stored session. */
  isLoading: boolean;
  /** True while a signed-in user's profile is loaded for the first time. */
  isProfileLoading: boolean;
  /** Why the profile could not be loaded; null otherwise. */
  profileError: Error | null;
  /** True while the database is asked for the first time whether a signed-in user is an administrator. */
  isAdminLoading: boolean;
  /** Loads the profile again, for example after it was edited. */
  refreshProfile: () => Promise<void>;
  /** Checks again whether the user is an administrator, and returns the result. A failed request counts as no. */
  refreshAdmin: () => Promise<boolean>;
}

const SessionContext = createContext<SessionState | null>(null);

/** Removes from the cache what only this user may see: lists keyed by their id, and single outfits (a creator sees drafts). */
function forgetUser(queryClient: QueryClient, userId: string): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(userId) });
  queryClient.removeQueries({ queryKey: outfitKeys.details() });
  // What they have looked at, too.
  void import("@/lib/offline-copies")
    .then(({ emptyCopies }) => emptyCopies())
    .catch(() => undefined);
}

interface SessionProviderProps {
  /** The stored session, if the auth client has read it before the first rendering. */
  initial?: Session | null | undefined;
  children: ReactNode;
}

/** Provides the auth client's session and the user's profile to `useSession()`. */
export function SessionProvider({ initial, children }: SessionProviderProps) {
  const queryClient = useQueryClient();
  const [session, setSession] = useState<Session | null | undefined>(() => {
    if (initial !== undefined) return initial;
    return mayHaveSession() ? undefined : null;
  });

  useEffect(() => {
    let userId = initial?.user.id;
    let isOver = false;
    let unsubscribe = () => {};

    async function subscribeToSession() {
      const { client, onSessionRefused, showUser } = await loadUserRequests();
      if (isOver) return;

      function follow(next: Session | null) {
        if (userId !== undefined && next?.user.id !== userId) forgetUser(queryClient, userId);
        userId = next?.user.id;
        showUser(userId, (found) => setSession(follow(found)));
        return next;
      }

      const { data } = client.onAuthStateChange((event, next) => {
        follow(next);
        // The first event repeats what is stored. The same object spares every page a rendering.
        setSession((before) =>
          event === "INITIAL_SESSION" && before?.access_token === next?.access_token
            ? (before ?? null)
            : next,
        );
      });
      const stopTelling = onSessionRefused(() =>
        toast("Your session has ended", "Please sign in again.", "danger"),
      );
      unsubscribe = () => {
        data.subscription.unsubscribe();
        stopTelling();
        showUser(undefined);
      };
    }

    function startSubscription() {
      // Without the client nobody can be signed in; the next attempt to sign in loads it again.
      subscribeToSession().catch(() => setSession(null));
    }

    // Another tab signed in.
    function handleStorage({ key, newValue }: StorageEvent) {
      if (key === sessionKey && newValue !== null) void loadAuth().catch(() => undefined);
    }

    const stopWaiting = onAuthWanted(startSubscription);
    window.addEventListener("storage", handleStorage);
    if (isAuthWanted()) startSubscription();
    else if (mayHaveSession()) void loadAuth().catch(() => undefined);
    return () => {
      isOver = true;
      unsubscribe();
      stopWaiting();
      window.removeEventListener("storage", handleStorage);
    };
  }, [queryClient, initial]);

  const user = session?.user ?? null;
  const userId = user?.id ?? "";
  const profileRow = useQuery({ ...myProfileQuery(userId), enabled: userId !== "" });
  const adminRole = useQuery({ ...isAdminQuery(userId), enabled: userId !== "" });

  const refreshProfile = useCallback(
    () => queryClient.invalidateQueries({ queryKey: myProfileKey(userId) }),
    [queryClient, userId],
  );
  const refreshAdmin = useCallback(async () => {
    if (userId === "") return false;
    return queryClient.fetchQuery({ ...isAdminQuery(userId), staleTime: 0 }).catch(() => false);
  }, [queryClient, userId]);

  const { data: profile = null, isLoading: isProfileLoading, error: profileError } = profileRow;
  const { data: isAdmin = false, isLoading: isAdminLoading } = adminRole;
  const state = useMemo<SessionState>(
    () => ({
      user,
      profile: user === null ? null : profile,
      isAdmin: user !== null && isAdmin,
      isLoading: session === undefined,
      isProfileLoading,
      profileError,
      isAdminLoading,
      refreshProfile,
      refreshAdmin,
    }),
    [
      user,
      profile,
      isAdmin,
      session,
      isProfileLoading,
      profileError,
      isAdminLoading,
      refreshProfile,
      refreshAdmin,
    ],
  );
  return <SessionContext value={state}>{children}</SessionContext>;
}

export function useSession(): SessionState {
  const state = useContext(SessionContext);
  if (state === null) throw new Error("useSession is used outside <SessionProvider>.");
  return state;
}
