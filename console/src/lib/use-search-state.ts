import { useCallback } from "react";
import { useSearchParams } from "@/lib/use-search-params";

/** Changes of parameters; null removes one. */
export type SearchChange = Record<string, string | null>;

interface ChangeOptions {
  replace?: boolean;
  /** The change is made only where these are in the address: what they name may have been left while a server was asked. */
  where?: Record<string, string>;
}

/**
 * The state of a screen in the address, so that another tab shows the same. A change of what is looked at adds to the history; with
 * `replace`, which suits typing, it does not.
 */
export function useSearchState(): [
  URLSearchParams,
  (change: SearchChange, options?: ChangeOptions) => void,
] {
  const [search, setSearch] = useSearchParams();
  const change = useCallback(
    (values: SearchChange, { replace = false, where = {} }: ChangeOptions = {}) => {
      setSearch(
        (current) => {
          if (Object.entries(where).some(([name, value]) => current.get(name) !== value))
            return null;
          const next = new URLSearchParams(current);
          for (const [name, value] of Object.entries(values)) {
            if (value === null || value === "") next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace },
      );
    },
    [setSearch],
  );
  return [search, change];
}
