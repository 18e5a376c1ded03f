import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Database } from "@/lib/database";
import { isOtherVersion } from "@/lib/present-row";
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

/**
 * Writes columns of the caller's own profile if it still has the version of `known`. Otherwise `check` gets the present profile: it
 * throws when the edit and what was saved meanwhile do not go together, and else the write is made all the same.
 */
export async function writeVersion(
  known: Profile,
  columns: ProfileUpdate,
  check: (present: Profile) => void,
): Promise<Profile> {
  let version = known.version;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await writeProfile(known.id, { ...columns, version });
    } catch (error) {
      const isOther = error instanceof ServiceError && isOtherVersion(error.cause);
      if (!isOther || attempt === attempts) throw error;
      const profile = rowsOf(await supabase.from("profiles").select().eq("id", known.id).single());
      check(profile);
      version = profile.version;
    }
  }
}

/** How often a profile that changes at the same moment is tried. */
const attempts = 5;

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

interface ProfileChange {
  /** The profile as this page has read it. */
  known: Profile;
  changes: Partial<ProfileValues>;
  /** Throws when the present profile and the changes do not go together. */
  check: (present: Profile) => void;
}

/** Saves the edited fields of the user's own profile. */
export function useUpdateProfile() {
  const storeProfile = useStoreProfile();
  return useMutation({
    mutationFn: ({ known, changes, check }: ProfileChange) =>
      writeVersion(known, columnsOf(changes), check),
    onSuccess: (profile) => {
      void storeProfile(profile);
    },
  });
}
