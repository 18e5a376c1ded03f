import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderAt } from "@/testing/render";
import { CsvImport } from "./csv-import";

it("says before an import what of the file is left out, and where rows may be cut", async () => {
  renderAt("/", <CsvImport target="styles" noun="styles" />);
  await userEvent.click(await screen.findByRole("button", { name: "Import CSV" }));
  const lines = [
    ",name,Description,description",
    "0,Red,warm,x",
    "1,Blue,cold,y,and more",
    "2,Green,fresh",
    "and deep",
  ];
  await userEvent.upload(screen.getByLabelText("CSV file"), new File([lines.join("\n")], "a.csv"));

  const said = await screen.findByText(/other names: Description\./);
  expect(said.parentElement).toHaveTextContent(
    /the first line does not name it: column 1\..*more cells than the first line: row 3\..*Fewer cells than the first line.*: row 4, 5\./,
  );
  expect(screen.getByRole("button", { name: "Import 3 rows" })).toBeEnabled();
});
