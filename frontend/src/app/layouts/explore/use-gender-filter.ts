import { useNavigate } from "react-router";
import { exploreSearch, useExploreParams } from "@/app/routes/explore/explore-params";
import type { Gender } from "@/lib/database";
import { genders } from "@/lib/genders";

/** The genders of the address, and a function that switches one on or off there. */
export function useGenderFilter() {
  const params = useExploreParams();
  const navigate = useNavigate();
  const chosen = params.genders;

  function toggle(gender: Gender) {
    const next = genders.filter((value) =>
      value === gender ? !chosen.includes(value) : chosen.includes(value),
    );
    navigate(`/${exploreSearch({ ...params, genders: next, outfit: null })}`, {
      replace: true,
      preventScrollReset: true,
    });
  }

  return { chosen, toggle };
}
