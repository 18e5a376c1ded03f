import { queryOptions } from "@tanstack/react-query";
import * as z from "zod/mini";
import { adminKey } from "@/lib/admin-key";
import { rowsOf, ServiceError } from "@/lib/service-error";
import { servicesUrl } from "@/lib/services";
import { supabase, supabaseKey } from "@/lib/supabase";

const tableSchema = z.object({ name: z.string(), rows: z.number(), bytes: z.number() });
const bucketSchema = z.object({ name: z.string(), files: z.number(), bytes: z.number() });

const figuresSchema = z.object({
  postgres: z.string(),
  migration: z.nullable(z.string()),
  database_bytes: z.number(),
  tables: z.array(tableSchema),
  buckets: z.array(bucketSchema),
});

const healthSchema = z.object({ version: z.string() });

export type Figures = z.infer<typeof figuresSchema> & { server: string };

/** The version of the server, as its health check reports it. */
async function readServerVersion(signal: AbortSignal): Promise<string> {
  const response = await fetch(`${servicesUrl}/auth/v1/health`, {
    headers: { apikey: supabaseKey },
    signal,
  });
  if (!response.ok) {
    throw new ServiceError("The server did not report its version.", "", response.status);
  }
  return healthSchema.parse(await response.json()).version.replace(/^v/, "");
}

/** Versions, and what the database and the buckets hold. */
export function figuresQuery() {
  return queryOptions({
    queryKey: [...adminKey, "figures"],
    queryFn: async ({ signal }): Promise<Figures> => {
      const [figures, server] = await Promise.all([
        supabase.rpc("admin_figures").abortSignal(signal),
        readServerVersion(signal),
      ]);
      return { ...figuresSchema.parse(rowsOf(figures)), server };
    },
  });
}

const units = ["bytes", "kB", "MB", "GB", "TB"];

/** A size as people read it, such as `39 MB`: one decimal below ten, none above. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}
