import type { Session } from "@supabase/auth-js";
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { AppRouter } from "@/app/router";
import { SessionProvider } from "@/lib/session";

interface AppProps {
  /** The query cache with the rows that are already loaded. */
  queryClient: QueryClient;
  /** The session if it is known already; null for a visitor. */
  session?: Session | null | undefined;
}

/** Root component: query cache, session and router. */
export function App({ queryClient, session }: AppProps) {
  return (
    <QueryClientProvider client={queryClient}>
      <SessionProvider initial={session}>
        <AppRouter />
      </SessionProvider>
    </QueryClientProvider>
  );
}
