// @vitest-environment node
import { expect, it } from "vitest";
import { countFilters, discoverySearch, parseDiscoveryParams } from "./discovery-params";

const parse = (search: string) => parseDiscoveryParams(new URLSearchParams(search));

it("reads back every state that it writes", () => {
  const search =
    "?tab=items&q=wool&gender=men,unisex&category=tops,bags&brand=tarn-tiller&style=street&color=camel&min=50&max=200";
  expect(discoverySearch(parse(search))).toBe(search);
});

it("leaves out what is at its default", () => {
  expect(discoverySearch(parse(""))).toBe("");
  expect(discoverySearch(parse("?tab=outfits&q=&gender=&brand=,"))).toBe("");
});

it("ignores values that it does not know", () => {
  expect(parse("?tab=shops&gender=robots&min=-5&max=1e3")).toMatchObject({
    tab: "outfits",
    genders: [],
    minPrice: null,
    maxPrice: null,
  });
});

it("counts the filters that the tab has", () => {
  const search = "gender=men&style=street,office&color=camel&min=10&max=20";
  expect(countFilters(parse(`?${search}`))).toBe(5);
  expect(countFilters(parse(`?tab=items&${search}`))).toBe(3);
});
