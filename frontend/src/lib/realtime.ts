import { RealtimeClient } from "@supabase/realtime-js";
import { loadClient, mayHaveSession, servicesUrl, supabaseKey } from "@/lib/supabase";

/**
 * The part of supabase-js that keeps a socket open: visitors without a session load it without the rest, and only on pages
 * that need it. It connects with the first channel.
 */
export const realtime = new RealtimeClient(`${servicesUrl.replace(/^http/, "ws")}/realtime/v1`, {
  params: { apikey: supabaseKey },
  accessToken: async () => {
    if (!mayHaveSession()) return supabaseKey;
    const { data } = await (await loadClient()).auth.getSession();
    return data.session?.access_token ?? supabaseKey;
  },
});
