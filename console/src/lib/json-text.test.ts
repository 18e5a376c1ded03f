// @vitest-environment node
import { expect, it } from "vitest";
import {
  compactJson,
  findExact,
  findRounded,
  layOutJson,
  parseExact,
  parseExactMembers,
  showExact,
  writeExact,
} from "./json-text";

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

it("console_034_a_safe_integer_of_sixteen_digits_is_no_rounded_number", () => {
  expect(findRounded("[9007199254740991, -9007199254740991]")).toBeNull();
  expect(findRounded("[9007199254740993]")).toBe("9007199254740993");
});

it("console_034_numbers_of_any_length_survive_reading_and_writing", () => {
  const json =
    '{"big":9007199254740993,"pi":[3.14159265358979323846],"text":"9007199254740993","small":1.5}';
  const value = parseExact(json);

  expect(value).toMatchObject({ text: "9007199254740993", small: 1.5 });
  expect(writeExact(value)).toBe(json);
  expect(findExact(value)).toBe("9007199254740993");
  expect(findExact({ a: 1.5, b: [{ c: 9007199254740991 }], d: null })).toBeNull();
  expect(() => parseExact("{")).toThrow(SyntaxError);
});

it("console_034_members_that_are_named_keep_their_digits_and_the_others_are_numbers", () => {
  const json = '{"claims":{"org":9007199254740993},"duration_ms":0.1234567890123456,"kept":true}';
  const read = parseExactMembers(json, ["claims", "absent"]) as Record<string, unknown>;

  expect(writeExact(read.claims)).toBe('{"org":9007199254740993}');
  expect([read.duration_ms, read.kept]).toEqual([0.1234567890123456, true]);
  expect("absent" in read).toBe(false);
  expect(["text", 1.5, [1]].map(showExact)).toEqual(["text", "1.5", "[1]"]);
  expect(showExact(parseExact("9007199254740993"))).toBe("9007199254740993");
});
