/** Changes of the schema: what one would do, and carrying it out as a migration file. */
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";

export interface MigrationPreview {
  sql: string;
  /** Locks that the change takes, with what they block. */
  locks: readonly (string | { relation: string; mode: string; blocks?: string })[];
  /** Whether a table is written anew, for which it is locked as long as that takes. */
  rewrites: boolean;
  /** Rows that are read or rewritten. */
  rows: number | null;
  dependants: readonly { kind: string; name: string }[];
  notes?: readonly string[];
}

export interface MigrationResult {
  /** Below the project's folder. */
  file: string;
  version: string;
}

/** Asked anew when the SQL changes; the server tries it in a transaction that it rolls back. */
export const migrationPreviewQuery = (sql: string) =>
  queryOptions({
    queryKey: ["migration-preview", sql],
    queryFn: ({ signal }) =>
      request<MigrationPreview>("/api/migrations", {
        json: { name: "preview", sql, preview: true },
        signal,
      }),
    retry: false,
    gcTime: 0,
    staleTime: 10_000,
  });

export function runMigration(name: string, sql: string): Promise<MigrationResult> {
  return request<MigrationResult>("/api/migrations", { json: { name, sql } });
}

/** Everything that shows the schema is read again. */
export async function refreshSchema(client: QueryClient): Promise<void> {
  const keys = ["catalog", "objects", "object", "access", "simulation", "advisors"];
  await Promise.all(keys.map((key) => client.invalidateQueries({ queryKey: [key] })));
}

/** A file's name made of the title: lower-case words, joined by underscores. */
export function nameMigration(title: string): string {
  const words =
    title
      .toLowerCase()
      .normalize("NFKD")
      .match(/[a-z0-9]+/g) ?? [];
  return words.join("_").slice(0, 80);
}
