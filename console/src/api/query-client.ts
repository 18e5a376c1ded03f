import { QueryClient } from "@tanstack/react-query";
import { isTemporary } from "@/api/error";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // A refusal stays one; an absent server is asked again until it is back.
      retry: (count, error) => isTemporary(error) && count < 2,
      retryDelay: (count) => Math.min(1000 * 2 ** count, 4000),
      staleTime: 5000,
      refetchOnWindowFocus: true,
      // The server may be on this machine, so requests are sent even if the browser reports that it is offline.
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});
