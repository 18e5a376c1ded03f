import { QueryClientProvider } from "@tanstack/react-query";
import { useState } from "react";
import { seedQueries } from "@/app/page-data";
import { readPageData } from "@/app/page-rows";
import { AppRouter } from "@/app/router";
import { createQueryClient } from "@/lib/query-client";
import { SessionProvider } from "@/lib/session";

/** The query cache, with the rows that came with the page. */
function createSeededClient() {
  const queryClient = createQueryClient();
  seedQueries(queryClient, readPageData());
  return queryClient;
}

/** Root component: query cache, session and router. */
export function App() {
  const [queryClient] = useState(createSeededClient);
  return (
    <QueryClientProvider client={queryClient}>
      <SessionProvider>
        <AppRouter />
      </SessionProvider>
    </QueryClientProvider>
  );
}
