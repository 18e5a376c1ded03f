import { useNavigate } from "react-router";
import {
  exploreSearch,
  parseExploreParams,
  useExploreParams,
} from "@/app/routes/explore/explore-params";
import type { Gender } from "@/lib/database";
import { genders } from "@/lib/genders";
import { usePresentAddress } from "@/lib/use-present-address";

/** The genders of the address, and a function that switches one on or off there. */
export function useGenderFilter() {
  const { genders: chosen } = useExploreParams();
  const present = usePresentAddress();
  const navigate = useNavigate();

  function toggle(gender: Gender) {
    const params = parseExploreParams(present().params);
    const next = genders.filter((value) => params.genders.includes(value) !== (value === gender));
    navigate(`/${exploreSearch({ ...params, genders: next, outfit: null })}`, {
      replace: true,
      preventScrollReset: true,
    });
  }

  return { chosen, toggle };
}
