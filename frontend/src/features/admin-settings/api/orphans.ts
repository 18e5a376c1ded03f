import { queryOptions, useQueryClient } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

/** A stored file to which no row refers. */
export interface Orphan {
  bucket: string;
  path: string;
  bytes: number;
  created_at: string;
}

export interface Orphans {
  /** The oldest ones, at most 1000. */
  files: Orphan[];
  total: number;
  bytes: number;
}

async function readOrphans(signal?: AbortSignal): Promise<Orphans> {
  const request = supabase.rpc("storage_orphans");
  const rows = rowsOf(await (signal === undefined ? request : request.abortSignal(signal)));
  return {
    files: rows.map(({ bucket, path, bytes, created_at }) => ({ bucket, path, bytes, created_at })),
    total: rows[0]?.total ?? 0,
    bytes: rows[0]?.total_bytes ?? 0,
  };
}

const orphansKey = [...adminKey, "orphans"] as const;

export function orphansQuery() {
  return queryOptions({
    queryKey: orphansKey,
    staleTime: 0,
    queryFn: ({ signal }) => readOrphans(signal),
  });
}

/** Files that one request of the storage service deletes. */
const batchSize = 100;

/** Deletes the current orphans: a file that is referenced again since the list was read is not deleted. */
async function removeOrphans(onProgress: (share: number) => void): Promise<number> {
  const { files } = await readOrphans();
  const { storage } = await import("@/lib/storage");
  const pathsByBucket = new Map<string, string[]>();
  for (const { bucket, path } of files) {
    pathsByBucket.set(bucket, [...(pathsByBucket.get(bucket) ?? []), path]);
  }
  let removed = 0;
  for (const [bucket, paths] of pathsByBucket) {
    for (let first = 0; first < paths.length; first += batchSize) {
      const { data, error } = await storage
        .from(bucket)
        .remove(paths.slice(first, first + batchSize));
      if (error !== null) throw new ServiceError(error.message, "", 0, error);
      removed += data.length;
      onProgress(removed / files.length);
    }
  }
  return removed;
}

export function useRemoveOrphans() {
  const queryClient = useQueryClient();
  return useAdminChange({
    change: async (onProgress: (share: number) => void) => {
      try {
        return await removeOrphans(onProgress);
      } finally {
        // A failure may come after some files were deleted.
        void queryClient.invalidateQueries({ queryKey: orphansKey });
      }
    },
    success: (count) => (count === 1 ? "1 file removed" : `${count} files removed`),
    failure: "Remove failed",
    failureText: () => "Failed to remove image. Please try again.",
  });
}
