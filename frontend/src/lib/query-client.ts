import { MutationCache, onlineManager, QueryClient } from "@tanstack/react-query";
import { noteOwnChange } from "@/lib/own-changes";
import { isTemporary } from "@/lib/service-error";

/** Milliseconds for which cached data counts as fresh, by how often it changes. */
export const stale = {
  list: 60_000,
  mine: 5 * 60_000,
  vocabulary: Number.POSITIVE_INFINITY,
} as const;

/** Three requests in all, within 1.5 s: an unreachable server is reported while the visitor still waits. */
const maxRetries = 2;
const firstRetryMs = 500;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    mutationCache: new MutationCache({ onSuccess: noteOwnChange }),
    defaultOptions: {
      queries: {
        staleTime: stale.list,
        // A 4xx would be the same again; only network failures and 5xx are retried, and not while the browser is offline.
        retry: (failures, error) =>
          failures < maxRetries && isTemporary(error) && onlineManager.isOnline(),
        retryDelay: (failures) => firstRetryMs * 2 ** failures,
        // By default queries wait for the network without an error, which would look like endless loading.
        networkMode: "always",
        refetchOnReconnect: true,
        refetchOnWindowFocus: false,
      },
      // By default a change waits for the network without a word, and is made later, also when its form was cancelled meanwhile.
      mutations: { networkMode: "always" },
    },
  });
}
