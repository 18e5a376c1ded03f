import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { Simulator } from "./simulator";

afterEach(() => vi.unstubAllGlobals());

it("console_031_a_request_of_the_simulator_is_there_again_after_another_screen", async () => {
  const first = renderConsole(<Simulator table={null} edited={null} />);
  const path = () => screen.getByLabelText<HTMLInputElement>(/path/i);
  await userEvent.type(path(), "items?id=eq.1");
  const typed = path().value;
  first.unmount();

  renderConsole(<Simulator table={null} edited={null} />);
  expect(path().value).toBe(typed);
  expect(typed).toMatch(/items\?id=eq\.1$/);
});

it("console_080_an_answer_is_not_taken_for_that_of_another_person_or_request", async () => {
  const rows = [{ id: "9007199254740993", note: null }];
  vi.stubGlobal("fetch", async () =>
    Response.json({
      subject: { role: "anon", claims: null },
      steps: [],
      policies: [],
      rows: [],
      truth: { rows, count: 700, error: null },
      agrees: true,
      banners: [],
    }),
  );
  renderConsole(<Simulator table={null} edited={null} initial={{ path: "/rest/v1/things" }} />);
  await userEvent.click(screen.getByRole("button", { name: /^Simulate(?! as)/ }));
  expect(await screen.findByText("The first 1 of 700 rows.")).toBeVisible();
  expect(screen.queryByText(/what was asked before/)).toBeNull();

  await userEvent.click(screen.getByRole("button", { name: /^Simulate as/ }));
  await userEvent.click(screen.getByRole("radio", { name: /service_role/ }));
  expect(await screen.findByText(/what was asked before/)).toBeVisible();
});
