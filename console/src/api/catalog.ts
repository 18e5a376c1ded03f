import { queryOptions, useQuery } from "@tanstack/react-query";
import { type Catalog, readCatalog } from "@/api/catalog-model";
import { send } from "@/api/client";
import { firstPaint } from "@/lib/first-paint";

let known: { etag: string; catalog: Catalog } | null = null;

declare global {
  interface Window {
    /** The catalog that `public/first.js` has asked for; undefined where nobody is signed in. */
    firstCatalog?: Promise<Response | undefined> | undefined;
  }
}

/** Takes the early answer once; those that follow are asked for as usual. */
async function takeFirstCatalog(): Promise<Response | undefined> {
  const { firstCatalog } = window;
  window.firstCatalog = undefined;
  return firstCatalog;
}

/** Asks only whether the catalog has changed when an answer is known already. */
async function loadCatalog(signal: AbortSignal): Promise<Catalog> {
  const headers: Record<string, string> = known === null ? {} : { "if-none-match": known.etag };
  const first = known === null ? await takeFirstCatalog() : undefined;
  const sent = first === undefined ? undefined : Promise.resolve(first);
  const response = await send("/api/catalog", { headers, signal, sent });
  if (response.status === 304 && known !== null) return known.catalog;
  // Reading the catalog of a large database takes tens of milliseconds, by which the shell would appear later.
  if (first !== undefined) await firstPaint();
  const catalog = readCatalog(await response.json());
  const etag = response.headers.get("etag");
  known = etag === null ? null : { etag, catalog };
  return catalog;
}

/** Forgets the catalog, because the next account may see another one. */
export function forgetCatalog(): void {
  known = null;
}

/**
 * Tables, columns, foreign keys, enums, roles and functions of the database. Asked every second while the page is visible, so that
 * changes from anywhere show within a second; mostly the answer is an empty 304.
 */
export const catalogQuery = queryOptions({
  queryKey: ["catalog"],
  queryFn: ({ signal }) => loadCatalog(signal),
  staleTime: 1000,
  refetchInterval: 1000,
  // The object is replaced only when the ETag is another, and comparing 25 000 columns would cost more than it saves.
  structuralSharing: false,
});

/** The catalog, or undefined until it has been loaded. */
export function useCatalog(): Catalog | undefined {
  return useQuery(catalogQuery).data;
}
