import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query";
import { hasCode, messageOf, uniqueViolation } from "@/lib/service-error";
import { toast } from "@/lib/toast";

export interface Notice {
  title: string;
  description: string;
}

/** One switch: the id it belongs to, and the state that was asked for. */
export interface Toggle {
  id: string;
  on: boolean;
}

interface ToggleOptions {
  mutationKey: QueryKey;
  /** The query whose data are the ids that are on. */
  idsKey: QueryKey;
  write: (toggle: Toggle) => Promise<void>;
  /** Other queries that the change makes stale. */
  staleKeys: readonly QueryKey[];
  /** Said after the change; absent where the page itself shows it well enough. */
  switchedOn?: Notice;
  switchedOff?: Notice;
  /** Shown when another tab or device was faster. */
  alreadyOn: Notice;
  failureText: string;
  /** A more precise text for an error; undefined for the service's message. */
  explainError?: (error: unknown, toggle: Toggle) => Notice | undefined;
}

function withId(ids: readonly string[], id: string, on: boolean): string[] {
  const others = ids.filter((other) => other !== id);
  return on ? [...others, id] : others;
}

/** Switches ids on and off (likes, bookmarks): shown immediately, rolled back when the service refuses. */
export function useToggle(options: ToggleOptions) {
  const queryClient = useQueryClient();
  const { idsKey } = options;
  return useMutation({
    mutationKey: options.mutationKey,
    mutationFn: options.write,
    onMutate: async ({ id, on }) => {
      // A read that is under way would overwrite the optimistic state with the old one.
      await queryClient.cancelQueries({ queryKey: idsKey });
      const wasOn = queryClient.getQueryData<string[]>(idsKey)?.includes(id);
      queryClient.setQueryData<string[]>(idsKey, (ids = []) => withId(ids, id, on));
      return { wasOn };
    },
    onSuccess: (_data, { on }) => {
      const notice = on ? options.switchedOn : options.switchedOff;
      if (notice !== undefined) toast(notice.title, notice.description, on ? "success" : "neutral");
    },
    onError: (error, toggle, context) => {
      if (toggle.on && hasCode(error, uniqueViolation)) {
        toast(options.alreadyOn.title, options.alreadyOn.description);
        return;
      }
      // This id alone: others may have been switched since.
      const { wasOn } = context ?? {};
      if (wasOn !== undefined) {
        queryClient.setQueryData<string[]>(idsKey, (ids = []) => withId(ids, toggle.id, wasOn));
      }
      const explained = options.explainError?.(error, toggle);
      toast(
        explained?.title ?? "Error",
        explained?.description ?? messageOf(error, options.failureText),
        "danger",
      );
    },
    onSettled: () =>
      Promise.all(
        [idsKey, ...options.staleKeys].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      ),
  });
}
