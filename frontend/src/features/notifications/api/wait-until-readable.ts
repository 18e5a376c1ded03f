import { supabase } from "@/lib/supabase";

/** Milliseconds before each look. */
const pauses = [0, 100, 300, 1000, 3000];

/**
 * Resolves when an announced notification can be read. The replication stream reports a commit a moment before other
 * connections see it, so on a busy machine a page that reads immediately may still get the state before.
 */
export async function waitUntilReadable(id: string): Promise<void> {
  for (const pause of pauses) {
    await new Promise((done) => setTimeout(done, pause));
    const { data } = await supabase.from("notifications").select("id").eq("id", id).maybeSingle();
    if (data !== null) return;
  }
}
