import { queryOptions } from "@tanstack/react-query";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

const columns =
  "id, username, full_name, avatar_url, bio, instagram_url, twitter_url, website_url, created_at";

/** Reads a public profile by its username, ignoring case; null when there is none. */
export function profileQuery(username: string) {
  return queryOptions({
    queryKey: ["profiles", "by-username", username.toLowerCase()],
    queryFn: async ({ signal }) =>
      resultOf(
        await supabase
          .rpc("profile_by_username", { name: username })
          .select(columns)
          .abortSignal(signal)
          .maybeSingle(),
      ),
  });
}

export type PublicProfile = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof profileQuery>["queryFn"]>>>
>;
