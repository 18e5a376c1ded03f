import { describe, expect, it } from "vitest";
import { exploreSearch, parseExploreParams } from "./explore-params";

const parse = (search: string) => parseExploreParams(new URLSearchParams(search));

describe("dashboard parameters", () => {
  it("default to Explore when parameters are absent or invalid", () => {
    for (const search of ["", "?section=nowhere&gender=cats&period=never", "?section=search"]) {
      expect(parse(search)).toEqual({
        section: "explore",
        query: "",
        genders: [],
        period: "all",
        outfit: null,
        collection: null,
      });
    }
  });

  it("select the search section whenever there is a query", () => {
    expect(parse("?section=likes&q=+rain+")).toMatchObject({ section: "search", query: "rain" });
  });

  it.each([
    "?section=top&period=week",
    "?q=rain&gender=men,unisex&outfit=rain-plan",
    "?section=bookmarks&outfit=rain-plan",
    "",
  ])("round-trip %j unchanged", (search) => {
    expect(exploreSearch(parse(search))).toBe(search);
  });
});
