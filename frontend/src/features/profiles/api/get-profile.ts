import { queryOptions } from "@tanstack/react-query";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

const columns =
  "id, username, full_name, avatar_url, bio, instagram_url, twitter_url, website_url, created_at";

/** A public profile by its username, in any case of letters; null when nobody has that name. */
export function profileQuery(username: string) {
  return queryOptions({
    queryKey: ["profiles", "by-username", username.toLowerCase()],
    queryFn: async ({ signal }) =>
      resultOf(
        await supabase
          .from("profiles")
          .select(columns)
          .ilike(
            "username",
            username.replace(/[\\%_]/g, (sign) => `\\${sign}`),
          )
          .abortSignal(signal)
          .maybeSingle(),
      ),
  });
}

export type PublicProfile = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof profileQuery>["queryFn"]>>>
>;
