import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { ChipField } from "./chip-field";

it("shows what was deleted since it was chosen, so that it can be taken out", async () => {
  const onChange = vi.fn();
  render(
    <ChipField
      label="Colors"
      chips={[{ id: "red", name: "Red" }]}
      loadingText=""
      chosen={["red", "gone"]}
      onChange={onChange}
    />,
  );

  await userEvent.click(screen.getByRole("checkbox", { name: "Not in the list" }));

  expect(onChange).toHaveBeenCalledWith(["red"]);
});
