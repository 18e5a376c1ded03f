import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Field } from "@ui/field";
import { type SyntheticEvent, useState } from "react";
import { expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { EditDialog } from "./edit-dialog";
import { FormFooter } from "./form-footer";
import { findChoices, SearchableSelect } from "./searchable-select";

const brands = [
  { id: "maison", name: "Maison Nord" },
  { id: "nord", name: "Nord" },
  ...Array.from({ length: 100 }, (_, index) => ({ id: `b${index}`, name: `Brand ${index}` })),
];

function Brand({ rows = brands }) {
  const [value, setValue] = useState("b7");
  return (
    <>
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
      <output aria-label="Chosen">{value}</output>
      <button type="button" onClick={() => setValue("nord")}>
        Take Nord
      </button>
    </>
  );
}

function Form({ rows = brands }) {
  return (
    <form>
      <Brand rows={rows} />
      <button type="button">Next</button>
    </form>
  );
}

const chosen = () => `Chosen: ${screen.getByLabelText("Chosen").textContent}`;

it("finds one of many rows by a part of its name, by keys", async () => {
  render(<Form />);
  const field = screen.getByRole("combobox", { name: "Brand" });
  expect(field).toHaveValue("Brand 7");
  await userEvent.click(field);
  await userEvent.keyboard("nord");
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

it("keeps its choice when the list was only looked at", async () => {
  render(<Form />);
  const field = screen.getByRole("combobox", { name: "Brand" });
  await userEvent.click(field);
  // The name stays to be seen, and the first letter takes its place.
  expect(field).toHaveValue("Brand 7");
  expect(screen.getByRole("option", { name: "Maison Nord" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(chosen()).toBe("Chosen: b7");

  await userEvent.click(field);
  await userEvent.keyboard("{Escape}{ArrowDown}{Enter}");
  expect(screen.queryByRole("listbox")).not.toBeInTheDocument();
  await userEvent.keyboard("{ArrowDown}");
  // A press on its scrollbar does not take the focus from the field.
  expect(fireEvent.mouseDown(screen.getByRole("listbox"))).toBe(false);
  await userEvent.tab();
  expect([chosen(), (field as HTMLInputElement).value]).toEqual(["Chosen: b7", "Brand 7"]);
});

it("leaves a text that is no name in the field, with an error, and takes the choice out only with the text", async () => {
  render(<Form />);
  const field = screen.getByRole("combobox", { name: "Brand" });
  await userEvent.click(field);
  await userEvent.keyboard("nowhere");
  expect(screen.getByText("Nothing is called that.")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect([chosen(), (field as HTMLInputElement).value]).toEqual(["Chosen: b7", "nowhere"]);
  expect(field).toBeInvalid();
  expect(field).toHaveAccessibleDescription("Choose one from the list.");

  await userEvent.clear(field);
  await userEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(chosen()).toBe("Chosen: ");
  expect(field).toBeValid();
});

it("a form is not saved with the former choice while another name is typed", async () => {
  const save = vi.fn((event: SyntheticEvent) => event.preventDefault());
  renderAt(
    "/",
    <EditDialog title="Edit" isDirty={false} onClose={() => undefined}>
      <form onSubmit={save}>
        <Brand />
        <FormFooter pending={false} />
      </form>
    </EditDialog>,
  );
  await userEvent.click(await screen.findByRole("combobox", { name: "Brand" }));
  await userEvent.keyboard("nor");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Not saved yet")).toBeVisible();
  expect(save).not.toHaveBeenCalled();

  // What was made or filled in beside the field ends the search.
  await userEvent.click(screen.getByRole("button", { name: "Take Nord" }));
  expect(screen.getByRole("combobox", { name: "Brand" })).toHaveValue("Nord");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(save).toHaveBeenCalledOnce();
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
