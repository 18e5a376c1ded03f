/** Snippets: files below `supabase/snippets` on a laptop, rows per account where the console serves many. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request, withQuery } from "@/api/client";
import { ApiError } from "@/api/error";
import { type Session, whyReadOnly } from "@/api/session";

export interface Snippet {
  name: string;
  text?: string;
  updated_at: string;
  /** Names the text, so that it alone is replaced; not in the list. */
  digest?: string;
}

export const snippetsQuery = queryOptions({
  queryKey: ["sql-snippets"],
  queryFn: async ({ signal }) => {
    const body = await request<{ snippets: Snippet[] }>("/api/sql/snippets", { signal });
    return [...body.snippets].sort((a, b) => a.name.localeCompare(b.name));
  },
});

export const useSnippets = () => useQuery(snippetsQuery);

/** The snippet that a name belongs to, as it was read when the name was typed: what "Replace" may replace. */
export const useSnippetToReplace = (name: string, isTaken: boolean) =>
  useQuery({
    queryKey: [...snippetsQuery.queryKey, "replaced", name],
    queryFn: () => readPresent(name),
    enabled: isTaken,
    // It is read again after a refusal, which is shown, and never by itself.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

/**
 * The reason why snippets cannot be changed; undefined when they can. Files of the project are shared by all accounts; an
 * account's own rows may be changed at every level.
 */
export function whyNoSnippetChanges(session: Session): string | undefined {
  return session.mode === "start" ? whyReadOnly(session) : undefined;
}

const pathOf = (name: string) => `/api/sql/snippets/${encodeURIComponent(name)}`;

export function loadSnippet(name: string): Promise<Snippet> {
  return request<Snippet>(pathOf(name));
}

interface SnippetSave {
  name: string;
  text: string;
  /**
   * The digest of the text that may be replaced, or null where there must be none; the server refuses with 409 otherwise. Absent:
   * whatever there is may be replaced.
   */
  base?: string | null | undefined;
}

export const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.code === "conflict";

/** A snippet as it is saved now; null where it is gone. */
export async function readPresent(name: string): Promise<Snippet | null> {
  try {
    return await loadSnippet(name);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

/** Saves a snippet. A text that is saved already, by an attempt whose answer was lost, is no other one that would be in the way. */
async function saveSnippet({ name, ...save }: SnippetSave): Promise<void> {
  try {
    await request<void>(pathOf(name), { method: "PUT", json: save });
  } catch (error) {
    const isSaved = isOvertaken(error) && (await readPresent(name))?.text === save.text;
    if (!isSaved) throw error;
  }
}

export function useSaveSnippet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: saveSnippet,
    // Also after a refusal: the list is older than what was met.
    onSettled: () => client.invalidateQueries({ queryKey: snippetsQuery.queryKey }),
  });
}

interface SnippetDeletion {
  name: string;
  /** The digest of the text that may be deleted; the server refuses with 409 otherwise. */
  base: string | undefined;
}

export function useDeleteSnippet() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, base }: SnippetDeletion) =>
      request<void>(withQuery(pathOf(name), { base }), { method: "DELETE" }),
    // Also after a refusal: the list is older than what was met.
    onSettled: () => client.invalidateQueries({ queryKey: snippetsQuery.queryKey }),
  });
}
