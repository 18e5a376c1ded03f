// @vitest-environment node
import { expect, test } from "vitest";
import { parseWizardParams, wizardPath } from "./wizard-params";

test("an address without parameters is the first step of a new outfit", () => {
  expect(parseWizardParams(new URLSearchParams())).toEqual({
    step: "items",
    outfit: null,
    query: "",
    category: "",
    brand: "",
    color: "",
  });
  expect(wizardPath({ step: "items", outfit: null, query: "" })).toBe("/create-outfit");
});

test("a state is read back from its address", () => {
  const state = {
    step: "review",
    outfit: "b1",
    query: "wool & silk",
    category: "shoes",
    brand: "tarn-tiller",
    color: "camel",
  } as const;

  const { searchParams } = new URL(wizardPath(state), "http://site.test");
  expect(parseWizardParams(searchParams)).toEqual(state);
});
