import type { Profile } from "@/lib/session";
import type { ProfileValues } from "./profile-schema";

/** Columns of `profiles` by the form's fields. */
export const profileColumns = {
  username: "username",
  fullName: "full_name",
  bio: "bio",
  instagramUrl: "instagram_url",
  twitterUrl: "twitter_url",
  websiteUrl: "website_url",
} as const satisfies Record<keyof ProfileValues, keyof Profile>;

export type ProfileField = keyof ProfileValues;
export const profileFields = Object.keys(profileColumns) as ProfileField[];

/** The form's values of a stored profile. */
export function valuesOf(profile: Profile): ProfileValues {
  return {
    username: profile.username ?? "",
    fullName: profile.full_name ?? "",
    bio: profile.bio ?? "",
    instagramUrl: profile.instagram_url ?? "",
    twitterUrl: profile.twitter_url ?? "",
    websiteUrl: profile.website_url ?? "",
  };
}

/** The fields that differ from the stored profile. */
export function changesOf(
  values: Partial<ProfileValues>,
  stored: ProfileValues,
): Partial<ProfileValues> {
  const changed = profileFields.filter(
    (field) => values[field] !== undefined && values[field] !== stored[field],
  );
  return Object.fromEntries(changed.map((field) => [field, values[field]]));
}
