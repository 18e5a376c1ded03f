import { QueryClient } from "@tanstack/react-query";
import { isTemporary } from "@/lib/service-error";

/** How long an answer counts as fresh, by how often the thing behind it changes. */
export const stale = {
  list: 60_000,
  mine: 5 * 60_000,
  vocabulary: Number.POSITIVE_INFINITY,
} as const;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: stale.list,
        // A refusal stays a refusal: only try again what may have been bad luck.
        retry: (failures, error) => failures < 2 && isTemporary(error),
        refetchOnWindowFocus: false,
      },
    },
  });
}
