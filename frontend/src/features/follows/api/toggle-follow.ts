import { followKeys, outfitKeys, profileKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Toggle, useToggle } from "@/lib/use-toggle";

/** Follows a person, or no longer. The id of a toggle is that of the person. */
export function useToggleFollow(userId: string) {
  return useToggle({
    mutationKey: ["follows", "toggle"],
    idsKey: followKeys.ids(userId),
    write: (toggle) => writeFollow(userId, toggle),
    staleKeys: [outfitKeys.followed(userId), profileKeys.numbers()],
    switchedOn: { title: "Following", description: "Their new outfits are in Following." },
    switchedOff: { title: "No longer following", description: "Their outfits left Following." },
    alreadyOn: { title: "Following", description: "You follow this person already." },
    failureText: "This could not be saved. Please try again.",
  });
}

async function writeFollow(userId: string, { id, on }: Toggle): Promise<void> {
  const follows = supabase.from("follows");
  if (on) resultOf(await follows.insert({ follower_id: userId, followed_id: id }));
  else resultOf(await follows.delete().eq("follower_id", userId).eq("followed_id", id));
}
