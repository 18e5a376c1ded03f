import type { Session, User } from "@supabase/supabase-js";
import { type QueryClient, queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import type { Database } from "@/lib/database.types";
import { stale } from "@/lib/query-client";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

export type Profile = Database["public"]["Tables"]["profiles"]["Row"];

export const myProfileKey = (userId: string) => ["profiles", "mine", userId] as const;

/** One's own profile. The database makes it from the sign-up metadata; absent means not yet. */
function myProfileQuery(userId: string) {
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

export interface SessionState {
  user: User | null;
  profile: Profile | null;
  /** True until it is known whether somebody is signed in. */
  isLoading: boolean;
}

const SessionContext = createContext<SessionState | null>(null);

/** What one person may see must not stay behind for the next: their own lists, and single outfits. */
function forgetUser(queryClient: QueryClient, userId: string): void {
  queryClient.removeQueries({
    predicate: ({ queryKey }) =>
      queryKey.includes(userId) || (queryKey[0] === "outfits" && queryKey[1] === "one"),
  });
}

/** Follows the auth client. Everything else asks `useSession()` who is here. */
export function SessionProvider({ children }: { children: ReactNode }) {
  const queryClient = useQueryClient();
  const [session, setSession] = useState<Session | null | undefined>(undefined);

  useEffect(() => {
    let userId: string | undefined;
    const { data } = supabase.auth.onAuthStateChange((_event, next) => {
      if (userId !== undefined && next?.user.id !== userId) forgetUser(queryClient, userId);
      userId = next?.user.id;
      setSession(next);
    });
    return () => data.subscription.unsubscribe();
  }, [queryClient]);

  const user = session?.user ?? null;
  const userId = user?.id ?? "";
  const { data: profile } = useQuery({ ...myProfileQuery(userId), enabled: userId !== "" });

  const state = useMemo<SessionState>(
    () => ({
      user,
      profile: user === null ? null : (profile ?? null),
      isLoading: session === undefined,
    }),
    [user, profile, session],
  );
  return <SessionContext value={state}>{children}</SessionContext>;
}

export function useSession(): SessionState {
  const state = useContext(SessionContext);
  if (state === null) throw new Error("useSession is used outside <SessionProvider>.");
  return state;
}
