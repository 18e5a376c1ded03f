import { queryOptions } from "@tanstack/react-query";
import { blockKeys, followKeys, notificationKeys, outfitKeys, profileKeys } from "@/lib/query-keys";
import { resultOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Toggle, useToggle } from "@/lib/use-toggle";

/** Blocks a person, or no longer. The id of a toggle is that of the person. */
export function useToggleBlock(userId: string) {
  return useToggle({
    mutationKey: ["blocks", "toggle"],
    idsKey: blockKeys.ids(userId),
    write: (toggle) => writeBlock(userId, toggle),
    // The two no longer follow each other, and their notifications are gone.
    staleKeys: [
      blockKeys.people(userId),
      followKeys.ids(userId),
      outfitKeys.followed(userId),
      profileKeys.numbers(),
      notificationKeys.ofUser(userId),
    ],
    switchedOn: {
      title: "Blocked",
      description: "You no longer follow each other, and their outfits leave your lists.",
    },
    switchedOff: { title: "No longer blocked", description: "They can follow you again." },
    alreadyOn: { title: "Blocked", description: "You have blocked this person already." },
    failureText: "This could not be saved. Please try again.",
  });
}

async function writeBlock(userId: string, { id, on }: Toggle): Promise<void> {
  const blocks = supabase.from("blocks");
  if (on) resultOf(await blocks.insert({ blocker_id: userId, blocked_id: id }));
  else resultOf(await blocks.delete().eq("blocker_id", userId).eq("blocked_id", id));
}

/** A person whom the user has blocked. */
export interface BlockedPerson {
  id: string;
  username: string | null;
  full_name: string | null;
}

/** Whom the user has blocked, the latest first. */
export function blockedPeopleQuery(userId: string) {
  return queryOptions({
    queryKey: blockKeys.people(userId),
    queryFn: async ({ signal }): Promise<BlockedPerson[]> => {
      const rows = rowsOf(
        await supabase
          .from("blocks")
          .select("person:profiles!blocks_blocked_id_fkey(id, username, full_name)")
          .eq("blocker_id", userId)
          .order("created_at", { ascending: false })
          .order("blocked_id")
          .abortSignal(signal),
      );
      return rows.map(({ person }) => person);
    },
  });
}
