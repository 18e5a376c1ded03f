import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

export type Availability = "unknown" | "checking" | "available" | "taken";

const typingPause = 300;
const suffixes = [1, 2, 3, 4, 5];

/** Whether a profile could take this name now: well-formed, not reserved, free in any case of letters. */
async function isAvailable(username: string, signal?: AbortSignal): Promise<boolean> {
  const check = supabase.rpc("username_available", { candidate: username });
  const answer = await (signal === undefined ? check : check.abortSignal(signal));
  if (answer.error !== null) return rowsOf(answer);
  return answer.data;
}

export function usernameAvailableQuery(username: string) {
  return queryOptions({
    queryKey: ["profiles", "username-available", username],
    staleTime: 10_000,
    queryFn: ({ signal }) => isAvailable(username, signal),
  });
}

/** The base of suggestions: lower case, nothing but letters, digits and underscores. */
export function suggestionBase(wanted: string): string {
  return wanted.toLowerCase().replace(/[^a-z0-9_]/g, "");
}

/** Free names near the wanted one: the base itself, and the base with 1 to 5. */
function suggestionsQuery(wanted: string) {
  const base = suggestionBase(wanted);
  return queryOptions({
    queryKey: ["profiles", "username-suggestions", base],
    staleTime: 10_000,
    queryFn: async () => {
      const candidates = [base, ...suffixes.map((suffix) => `${base}${suffix}`)];
      const free = await Promise.all(candidates.map((candidate) => isAvailable(candidate)));
      return candidates.filter((_candidate, index) => free[index] === true);
    },
  });
}

export interface UsernameAvailability {
  state: Availability;
  suggestions: readonly string[];
}

/** Follows what is typed, 300 ms behind. Not asked: nothing, the present name, what is too short. */
export function useUsernameAvailability(typed: string, current = ""): UsernameAvailability {
  const wanted = typed.trim();
  const settled = useDebounced(wanted, typingPause);
  const worthAsking = wanted.length >= 3 && wanted !== current;
  const check = useQuery({
    ...usernameAvailableQuery(settled),
    enabled: worthAsking && settled === wanted,
  });
  // An error counts as taken: better to ask for another name than to promise one.
  const state: Availability = !worthAsking
    ? "unknown"
    : settled !== wanted || check.isPending
      ? "checking"
      : check.data === true
        ? "available"
        : "taken";
  const { data: suggestions } = useQuery({
    ...suggestionsQuery(settled),
    enabled: state === "taken" && suggestionBase(settled).length >= 2,
  });
  return { state, suggestions: state === "taken" ? (suggestions ?? []) : [] };
}

function useDebounced(value: string, delayMs: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), delayMs);
    return () => window.clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}
