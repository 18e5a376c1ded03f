import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { SubjectPicker } from "./subject-picker";

it("console_034_claims_survive_the_panel_and_a_number_that_json_would_round_is_refused", async () => {
  const onChange = vi.fn();
  renderConsole(<SubjectPicker value={{ kind: "admin" }} onChange={onChange} />);
  const open = () => userEvent.click(screen.getByRole("button", { name: /^Run as/ }));
  const claims = () => screen.findByLabelText("Claims of the token");
  const type = async (text: string) =>
    fireEvent.change(await claims(), { target: { value: text } });
  await open();
  await userEvent.click(screen.getByRole("radio", { name: /^Claims/ }));
  await type('{"tenant": 9007199254740993}');
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByLabelText("Claims of the token")).toBeNull();

  await open();
  await userEvent.click(screen.getByRole("radio", { name: /^Claims/ }));
  expect(await claims()).toHaveValue('{"tenant": 9007199254740993}');
  await userEvent.click(screen.getByRole("button", { name: "Use these claims" }));
  expect(await screen.findByText(/^9007199254740993 has more digits/)).toBeVisible();
  expect(onChange).not.toHaveBeenCalled();

  await type('{"tenant": "9007199254740993"}');
  await userEvent.click(screen.getByRole("button", { name: "Use these claims" }));
  expect(onChange).toHaveBeenCalledWith({
    kind: "claims",
    claims: { tenant: "9007199254740993" },
  });
});
