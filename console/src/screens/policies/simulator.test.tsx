import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderConsole } from "@/testing/render";
import { Simulator } from "./simulator";

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
