import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Database } from "@/lib/database";
import { insufficientPrivilege, resultOf, rowsOf, ServiceError } from "@/lib/service-error";
import { myProfileKey, type Profile } from "@/lib/session";
import { supabase } from "@/lib/supabase";
import type { ProfileValues } from "./profile-schema";
import { type ProfileField, profileColumns } from "./profile-values";

type ProfileUpdate = Database["public"]["Tables"]["profiles"]["Update"];

/** The form's fields as columns. An emptied field is null. */
export function columnsOf(changes: Partial<ProfileValues>): ProfileUpdate {
  const columns = Object.entries(changes).map(([field, value]) => [
    profileColumns[field as ProfileField],
    value === "" ? null : value,
  ]);
  return Object.fromEntries(columns);
}

/** Writes columns of the caller's own profile. No row comes back when the profile is not theirs. */
export async function writeProfile(userId: string, columns: ProfileUpdate): Promise<Profile> {
  const written = resultOf(
    await supabase.from("profiles").update(columns).eq("id", userId).select().maybeSingle(),
  );
  if (written === null) {
    throw new ServiceError("The profile was not updated.", insufficientPrivilege, 403);
  }
  return written;
}

/** Reads the caller's own profile as it is at the moment. */
export async function readProfile(userId: string): Promise<Profile> {
  return rowsOf(await supabase.from("profiles").select().eq("id", userId).single());
}

/** Puts a written profile into the cache, and refreshes lists that show its name or picture. */
export function useStoreProfile() {
  const queryClient = useQueryClient();
  return (profile: Profile) => {
    queryClient.setQueryData(myProfileKey(profile.id), profile);
    return Promise.all([
      queryClient.invalidateQueries({ queryKey: ["profiles", "by-username"] }),
      queryClient.invalidateQueries({ queryKey: ["profiles", "username-available"] }),
      queryClient.invalidateQueries({ queryKey: ["outfits"] }),
    ]);
  };
}

/** Saves the edited fields of the user's own profile. */
export function useUpdateProfile(userId: string) {
  const storeProfile = useStoreProfile();
  return useMutation({
    mutationFn: (changes: Partial<ProfileValues>) => writeProfile(userId, columnsOf(changes)),
    onSuccess: (profile) => {
      void storeProfile(profile);
    },
  });
}
