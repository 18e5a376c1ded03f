import { useSearchParams } from "react-router";

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

/** The open tab, and a function that opens another one. The first tab needs no parameter. */
export function useProfileTab(): [ProfileTab, (tab: string) => void] {
  const [params, setParams] = useSearchParams();
  const named = profileTabs.find(({ value }) => value === params.get("tab"))?.value;
  function open(tab: string) {
    const search: Record<string, string> = tab === "profile" ? {} : { tab };
    setParams(search, { replace: true, preventScrollReset: true });
  }
  return [named ?? "profile", open];
}
