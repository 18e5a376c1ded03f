import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { HookCard } from "./hook-card";

afterEach(() => vi.unstubAllGlobals());

it("console_034_what_a_hook_got_and_answered_is_shown_with_all_digits", async () => {
  const answer =
    '{"input":{"claims":{"org":9007199254740993}},"output":{"claims":{"shop":9007199254740995}},"refusal":null,"elapsed_ms":1.5}';
  vi.stubGlobal("fetch", async () => new Response(answer));
  renderConsole(<HookCard name="custom_access_token" settings={[]} />);
  await userEvent.click(screen.getByRole("button", { name: "Call with a sample" }));
  await userEvent.click(screen.getByRole("button", { name: "Call it" }));

  expect(await screen.findByText(/"org": 9007199254740993/)).toBeVisible();
  expect(screen.getByText(/"shop": 9007199254740995/)).toBeVisible();
});
