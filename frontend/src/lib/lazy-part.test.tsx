import { act, render, screen } from "@testing-library/react";
import { Suspense } from "react";
import { expect, it, vi } from "vitest";
import { lazyPart } from "./lazy-part";

it("a part whose code cannot be loaded leaves the page, and is loaded on demand", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  let attempts = 0;
  const Part = lazyPart(async () => {
    attempts += 1;
    if (attempts === 1) throw new TypeError("Failed to fetch dynamically imported module");
    return { default: () => <p>The part</p> };
  });
  // React requires updates that suspend to be awaited.
  await act(async () => {
    render(
      <>
        <h1>The page</h1>
        <Suspense>
          <Part />
        </Suspense>
      </>,
    );
  });

  expect(await screen.findByRole("alert")).toHaveTextContent("This could not be loaded.");
  expect(screen.getByRole("heading", { name: "The page" })).toBeVisible();
  await act(async () => screen.getByRole("button", { name: "Try again" }).click());

  expect(await screen.findByText("The part")).toBeVisible();
  expect(attempts).toBe(2);
});
