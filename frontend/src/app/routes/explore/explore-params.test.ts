import { describe, expect, it } from "vitest";
import { exploreSearch, parseExploreParams } from "./explore-params";

const parse = (search: string) => parseExploreParams(new URLSearchParams(search));

describe("the dashboard's address", () => {
  it("shows Explore when it says nothing, or nonsense", () => {
    for (const search of ["", "?section=nowhere&gender=cats&period=never", "?section=search"]) {
      expect(parse(search)).toEqual({
        section: "explore",
        query: "",
        genders: [],
        period: "all",
        outfit: null,
      });
    }
  });

  it("searches as soon as there is something to search for", () => {
    expect(parse("?section=likes&q=+rain+")).toMatchObject({ section: "search", query: "rain" });
  });

  it.each([
    "?section=top&period=week",
    "?q=rain&gender=men,unisex&outfit=rain-plan",
    "?section=bookmarks&outfit=rain-plan",
    "",
  ])("says %j in one way only", (search) => {
    expect(exploreSearch(parse(search))).toBe(search);
  });
});
