// @vitest-environment node
import { expect, it } from "vitest";
import { compactJson, findRounded, layOutJson } from "./json-text";

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

it("console_034_a_number_that_would_be_rounded_is_named_as_it_is_written", () => {
  expect(findRounded('{"a": [1, -2.5e3, "9007199254740993"]}')).toBeNull();
  expect(findRounded('{"a": [1, {"9007199254740993": 9007199254740993}]}')).toBe(
    "9007199254740993",
  );
});
