import { useMutation } from "@tanstack/react-query";
import { rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

interface StoredFile {
  bucket: string;
  name: string;
}

/** The list of the user's files in what the database exports. Its type there is only JSON. */
export function filesIn(exported: unknown): StoredFile[] {
  if (typeof exported !== "object" || exported === null || !("files" in exported)) return [];
  const { files } = exported;
  if (!Array.isArray(files)) return [];
  return files.filter(
    (file): file is StoredFile => typeof file?.bucket === "string" && typeof file.name === "string",
  );
}

async function downloadFile({ bucket, name }: StoredFile): Promise<Uint8Array> {
  const { data, error } = await (await import("@/lib/storage")).storage.from(bucket).download(name);
  if (error !== null) throw new ServiceError(error.message, "", error.status ?? 0, error);
  return new Uint8Array(await data.arrayBuffer());
}

/** A zip with `data.json`, every row about the user, and their files below `files/<bucket>/`. */
export async function buildArchive(onProgress: (done: number) => void): Promise<Blob> {
  const [exported, { zipSync }] = await Promise.all([
    supabase.rpc("export_my_data").then(rowsOf),
    import("fflate"),
  ]);
  const entries: Record<string, Uint8Array> = {
    "data.json": new TextEncoder().encode(JSON.stringify(exported, null, 2)),
  };
  const files = filesIn(exported);
  // One after the other: photos are large, and phones have little memory for requests in flight.
  for (const [index, file] of files.entries()) {
    entries[`files/${file.bucket}/${file.name}`] = await downloadFile(file);
    onProgress((index + 1) / files.length);
  }
  // Pictures are compressed already, so the archive only collects them. Not in a worker: the Content-Security-Policy allows none
  // that a library makes from text.
  const archive = zipSync(entries, { level: 0 });
  return new Blob([new Uint8Array(archive)], { type: "application/zip" });
}

/** Collects the user's data and files and saves them as one zip. */
export function useExportData() {
  return useMutation({
    mutationFn: async (onProgress: (done: number) => void) => {
      const archive = await buildArchive(onProgress);
      // Not with the page: a file that several pages share is named in what each first load has.
      const { saveFile } = await import("@/lib/save-file");
      saveFile(archive, `lookbook-${new Date().toISOString().slice(0, 10)}.zip`);
    },
  });
}
