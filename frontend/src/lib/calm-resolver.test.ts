import { expect, it } from "vitest";
import { calmResolver } from "./calm-resolver";

const errors = { name: { type: "min", message: "At least 2 characters" } };
const resolver = calmResolver<{ name: string }>(async () => ({ values: {}, errors }));
const check = (name: string, names?: ["name"]) =>
  resolver({ name }, undefined, {
    fields: {},
    shouldUseNativeValidation: false,
    ...(names !== undefined && { names }),
  });

it("an error that appears between press and release waits for the click", async () => {
  let isKnown = false;
  const field = document.body.appendChild(document.createElement("input"));
  window.dispatchEvent(new MouseEvent("pointerdown"));
  // Pressing another control takes the focus from the field, which starts the check.
  field.dispatchEvent(new FocusEvent("blur"));
  const checked = Promise.resolve(check("a", ["name"])).then(({ errors: found }) => {
    isKnown = true;
    return found;
  });
  await new Promise((wake) => setTimeout(wake));
  expect(isKnown).toBe(false);

  window.dispatchEvent(new MouseEvent("pointerup"));
  window.dispatchEvent(new MouseEvent("click"));
  expect(await checked).toEqual(errors);
});

it("a field that was only passed is not complained about until the form is submitted", async () => {
  expect((await check("", ["name"])).errors).toEqual({});
  expect((await check("a", ["name"])).errors).toEqual(errors);
  expect((await check("")).errors).toEqual(errors);
});
