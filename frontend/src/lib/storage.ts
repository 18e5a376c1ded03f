import { StorageClient } from "@supabase/storage-js";
import { servicesUrl } from "@/lib/services";
import { fetchWithToken } from "@/lib/supabase";

/** Reads and writes files: the part of supabase-js for pages with uploads and private pictures. */
export const storage = new StorageClient(`${servicesUrl}/storage/v1`, {}, fetchWithToken);
