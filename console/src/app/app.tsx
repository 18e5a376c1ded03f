import { QueryClientProvider } from "@tanstack/react-query";
import { BrowserRouter } from "react-router";
import { queryClient } from "@/api/query-client";
import { SessionGate } from "@/app/session-gate";
import { Shell } from "@/app/shell/shell";
import { LazyToaster } from "@/components/lazy-toaster";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      {/* A transition would draw a screen in pieces of 5 ms between other tasks, which takes longer. */}
      <BrowserRouter useTransitions={false}>
        <SessionGate>
          <Shell />
        </SessionGate>
      </BrowserRouter>
      <LazyToaster />
    </QueryClientProvider>
  );
}
