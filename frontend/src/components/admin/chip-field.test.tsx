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

it("many chips are searched by name, and Enter there does not submit the form", async () => {
  const onSubmit = vi.fn();
  render(
    <form onSubmit={onSubmit}>
      <ChipField
        label="Colors"
        chips={Array.from({ length: 30 }, (_, index) => ({ id: `${index}`, name: `Red ${index}` }))}
        loadingText=""
        chosen={["3"]}
        onChange={() => undefined}
      />
    </form>,
  );
  await userEvent.type(screen.getByLabelText("Search colors"), "red 29{Enter}");

  expect(screen.getAllByRole("checkbox")).toHaveLength(1);
  expect(screen.getByText("1 chosen")).toBeVisible();
  expect(onSubmit).not.toHaveBeenCalled();
});
