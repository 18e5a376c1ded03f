import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { type LazyModule, lazyModule, useRetriedModule } from "./lazy-module";

function Page({ module }: { module: LazyModule<{ text: string }> }) {
  const { found, hasFailed } = useRetriedModule(module, "now");
  return (
    <>
      <input aria-label="Note" defaultValue="an hour of typing" />
      <p>{found?.text ?? (hasFailed ? "failed" : "loading")}</p>
    </>
  );
}

it("console_031_a_script_that_cannot_be_loaded_takes_nothing_away_and_is_tried_again", async () => {
  let attempts = 0;
  const module = lazyModule(async () => {
    attempts += 1;
    if (attempts < 3) throw new TypeError("Failed to fetch dynamically imported module");
    return { text: "there" };
  });
  render(<Page module={module} />);

  expect(await screen.findByText("failed")).toBeVisible();
  expect(screen.getByLabelText("Note")).toHaveValue("an hour of typing");
  expect(await screen.findByText("there")).toBeVisible();
});

it("console_031_no_part_of_the_page_is_loaded_by_react_lazy_which_takes_the_page_away_when_it_fails", () => {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !file.includes(".test."),
  );
  const lazy = files.filter((file) => /\blazy\(/.test(readFileSync(join(folder, file), "utf8")));

  expect(lazy).toEqual([]);
});
