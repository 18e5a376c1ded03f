/** Tabs of My Profile, in their order. The address names the open one: `/profile?tab=favorites`. */
export const profileTabs = [
  { value: "profile", label: "Profile" },
  { value: "training-images", label: "Training Images" },
  { value: "outfits", label: "My Outfits" },
  { value: "submissions", label: "My Submissions" },
  { value: "edit", label: "Edit Profile" },
  { value: "favorites", label: "My Favorites" },
] as const;

export type ProfileTab = (typeof profileTabs)[number]["value"];
