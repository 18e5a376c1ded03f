import { RealtimeClient } from "@supabase/realtime-js";
import { servicesUrl } from "@/lib/services";
import { loadAuth, mayHaveSession, supabaseKey } from "@/lib/supabase";

/** The part of supabase-js that keeps a socket open, for all channels of the page. It connects with the first one. */
export const realtime = new RealtimeClient(`${servicesUrl.replace(/^http/, "ws")}/realtime/v1`, {
  params: { apikey: supabaseKey },
  accessToken: async () => {
    if (!mayHaveSession()) return supabaseKey;
    const { data } = await (await loadAuth()).getSession();
    return data.session?.access_token ?? supabaseKey;
  },
});
