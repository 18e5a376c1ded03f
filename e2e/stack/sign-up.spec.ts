// @selvedge/stack under Playwright: a fixture starts one stack for each worker.

import { test as base, expect } from "@playwright/test";
import type { Stack } from "../../packages/stack/src/index.ts";
import { client } from "../support/clients.ts";
import { copyProject } from "./project.ts";

const test = base.extend<object, { stack: Stack }>({
  stack: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of other fixtures from this pattern.
    async ({}, use) => {
      await using project = await copyProject();
      await using stack = await project.createStack();
      await use(stack);
    },
    { scope: "worker" },
  ],
});

test("a mail of the worker's own stack is in its inbox @once", async ({ page, stack }) => {
  const supabase = client(stack.publishableKey, stack.url);
  const email = "grace@example.com";
  const { error } = await supabase.auth.signUp({ email, password: "a long password" });
  expect(error).toBeNull();

  await page.goto(stack.inboxUrl ?? "");

  await expect(page.getByText(email).first()).toBeVisible();
});
