import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Field } from "@ui/field";
import { useState } from "react";
import { expect, it } from "vitest";
import { findChoices, SearchableSelect } from "./searchable-select";

const brands = [
  { id: "maison", name: "Maison Nord" },
  { id: "nord", name: "Nord" },
  ...Array.from({ length: 100 }, (_, index) => ({ id: `b${index}`, name: `Brand ${index}` })),
];

function Form({ rows = brands }) {
  const [value, setValue] = useState("b7");
  return (
    <form aria-label={`Chosen: ${value}`}>
      <Field label="Brand">
        {(attributes) => (
          <SearchableSelect
            {...attributes}
            prompt="Select a brand"
            rows={rows}
            value={value}
            onChange={setValue}
          />
        )}
      </Field>
      <button type="button">Next</button>
    </form>
  );
}

const chosen = () => screen.getByRole("form").getAttribute("aria-label");

it("finds one of many rows by a part of its name, by keys", async () => {
  render(<Form />);
  const field = screen.getByRole("combobox", { name: "Brand" });
  expect(field).toHaveValue("Brand 7");
  await userEvent.click(field);
  await userEvent.type(field, "nord");
  // The one that begins so comes first.
  expect(screen.getAllByRole("option").map((one) => one.textContent)).toEqual([
    "Nord",
    "Maison Nord",
  ]);
  await userEvent.keyboard("{ArrowDown}{Enter}");

  expect(chosen()).toBe("Chosen: maison");
  expect(field).toHaveValue("Maison Nord");
  expect(screen.queryByRole("listbox")).not.toBeInTheDocument();
});

it("keeps its choice where the text is no name, and takes it out where the text is", async () => {
  render(<Form />);
  const field = screen.getByRole("combobox", { name: "Brand" });
  await userEvent.click(field);
  await userEvent.type(field, "nowhere");
  expect(screen.getByText("Nothing is called that.")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect([chosen(), (field as HTMLInputElement).value]).toEqual(["Chosen: b7", "Brand 7"]);

  await userEvent.clear(field);
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(chosen()).toBe("Chosen: ");
});

it("a press on a row chooses it, and a short list is the browser's own select", async () => {
  const { unmount } = render(<Form />);
  await userEvent.click(screen.getByRole("combobox", { name: "Brand" }));
  await userEvent.click(screen.getByRole("option", { name: "Nord" }));
  expect(chosen()).toBe("Chosen: nord");
  unmount();

  render(<Form rows={brands.slice(0, 10)} />);
  expect(screen.getByLabelText("Brand").tagName).toBe("SELECT");
});

it("an empty text finds all rows", () => {
  expect(findChoices(brands, " ")).toEqual(brands);
});
