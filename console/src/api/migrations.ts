/** Changes of the schema: what one would do, and carrying it out as a migration file. */
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";

export interface TableLock {
  relation: string;
  /** PostgreSQL's word for the lock. */
  mode: string;
  /** The statements that wait while the lock is held. */
  blocks: string;
  /** Rows of the table, an estimate when there are many; null when they could not be counted. */
  rows: number | null;
  rewritten: boolean;
}

export interface NamedObject {
  kind: string;
  name: string;
}

export interface MigrationPreview {
  sql: string;
  locks: readonly TableLock[];
  /** Whether a table is written anew; null when trying it took too long to know. */
  rewrites: boolean | null;
  /** Rows that are written anew, or else read; null when that is not known. */
  rows: number | null;
  dropped: readonly NamedObject[];
  dependants: readonly NamedObject[];
  notes: readonly string[];
}

export interface MigrationResult {
  /** Path of the migration file relative to the project's folder. */
  file: string;
  version: string;
  notes: readonly string[];
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
    // The dry run takes locks, so it is only repeated when the user asks for it.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
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
