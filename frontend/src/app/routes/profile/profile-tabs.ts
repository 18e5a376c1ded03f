import { useSearchParams } from "react-router";
import { type ProfileTab, profileTabs } from "./profile-tab-list";

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
