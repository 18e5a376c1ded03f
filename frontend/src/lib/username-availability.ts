import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

export type Availability = "unknown" | "checking" | "available" | "taken";

/** Milliseconds without a keystroke before the server is asked. */
const typingPauseMs = 300;
const suffixes = [1, 2, 3, 4, 5];

/** Whether a profile could take this name now: well-formed, not reserved, and unused in any case of letters. */
async function isAvailable(username: string, signal?: AbortSignal): Promise<boolean> {
  const check = supabase.rpc("username_available", { candidate: username });
  const response = await (signal === undefined ? check : check.abortSignal(signal));
  if (response.error !== null) return rowsOf(response);
  return response.data;
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

/** Available names similar to the wanted one: the base itself, and the base followed by 1 to 5. */
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

/** Checks the typed name after a pause. The current name and names under 3 letters are not checked. */
export function useUsernameAvailability(typed: string, current = ""): UsernameAvailability {
  const wanted = typed.trim();
  const settled = useDebounced(wanted, typingPauseMs);
  // Names are unique in any case of letters, so another spelling of the current name is not asked about.
  const worthAsking = wanted.length >= 3 && wanted.toLowerCase() !== current.toLowerCase();
  const check = useQuery({
    ...usernameAvailableQuery(settled),
    enabled: worthAsking && settled === wanted,
  });
  // A failed check counts as taken: promising a name that is not available would be worse.
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
