// @vitest-environment node
import { expect, it } from "vitest";
import { compactJson, layOutJson } from "./json-text";

it("console_034_json_is_laid_out_with_the_digits_that_it_has", () => {
  const json = '{"id":9007199254740993,"a":[],"b":[1.50,"x: {y}"],"c":{"d":null}}';

  expect(layOutJson(json)).toBe(`{
  "id": 9007199254740993,
  "a": [],
  "b": [
    1.50,
    "x: {y}"
  ],
  "c": {
    "d": null
  }
}`);
  expect(compactJson(layOutJson(json))).toBe(json);
});
