import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import type { Json } from "@/lib/database";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

const figures = [
  "brands",
  "categories",
  "subcategories",
  "items",
  "combines",
  // Outfits that wait for review.
  "pending",
  // Reports that are open.
  "reports",
  "colors",
  "styles",
  "outfit_styles",
  "users",
] as const;

export type AdminOverview = Record<(typeof figures)[number], number>;

/** The figures of the function's JSON object; one that is missing counts as 0. */
function readFigures(answer: Json): AdminOverview {
  const values = new Map(Object.entries(answer ?? {}));
  const pairs = figures.map((name) => [name, Number(values.get(name) ?? 0)] as const);
  return Object.fromEntries(pairs) as AdminOverview;
}

/** How many rows each section of the admin area has. */
export function adminOverviewQuery() {
  return queryOptions({
    queryKey: [...adminKey, "overview"],
    queryFn: async ({ signal }) =>
      readFigures(rowsOf(await supabase.rpc("admin_overview").abortSignal(signal))),
    // The number of outfits that wait is what administrators come for.
    staleTime: 10_000,
    refetchOnWindowFocus: true,
  });
}
