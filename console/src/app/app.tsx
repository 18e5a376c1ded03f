import { QueryClientProvider } from "@tanstack/react-query";
import { queryClient } from "@/api/query-client";
import { GuardedRouter } from "@/app/guarded-router";
import { SessionGate } from "@/app/session-gate";
import { Shell } from "@/app/shell/shell";
import { LazyToaster } from "@/components/lazy-toaster";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <GuardedRouter>
        <SessionGate>
          <Shell />
        </SessionGate>
      </GuardedRouter>
      <LazyToaster />
    </QueryClientProvider>
  );
}
