import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderAt } from "@/testing/render";
import { CsvImport } from "./csv-import";

afterEach(() => vi.unstubAllGlobals());

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

it("takes the ids of an exported file, and names lines that were copied with theirs", async () => {
  renderAt("/", <CsvImport target="brands" noun="brands" />);
  await userEvent.click(await screen.findByRole("button", { name: "Import CSV" }));
  expect(screen.getByText(/Rows are added/)).toBeVisible();
  const input = screen.getByLabelText("CSV file");
  const id = "0b5cf0a2-7a50-4d2e-9a43-0c6a3a9f1c11";
  const copied = `name,id\nAlba,${id}\nBora,\nAlba II,${id}\n`;
  await userEvent.upload(input, new File([copied], "a.csv"));
  const said = await screen.findByText(/a row before has the same id: row 4\./);
  expect(said.parentElement).not.toHaveTextContent("other names");

  // Another program's numbers of rows.
  await userEvent.upload(input, new File(["id,name\n7,Alba\n"], "a.csv"));
  expect(await screen.findByText(/other names: id\./)).toBeVisible();
});

async function open(): Promise<HTMLElement> {
  renderAt("/", <CsvImport target="outfit_styles" noun="styles" />);
  await userEvent.click(await screen.findByRole("button", { name: "Import CSV" }));
  return screen.getByLabelText("CSV file");
}

it("tells rows that are there already from those that it has imported, also after others were corrected", async () => {
  const there = new Set<string>();
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    const { entries } = JSON.parse(String(init?.body)) as { entries: Record<string, string>[] };
    const answers = entries.map(({ id = "", name = "", image }, place) => {
      if (image === "no address") return { place, error: "The image must be a valid URL." };
      const was_there = there.has(id);
      there.add(id);
      // Somebody has renamed Blue in the meantime.
      const stored_name = !was_there ? null : name === "Blue" ? "Navy" : name;
      return { place, error: null, was_there, stored_name };
    });
    return Response.json(answers);
  });
  const input = await open();
  const send = async (file: string, rows: number) => {
    await userEvent.upload(input, new File([file], "a.csv"));
    await userEvent.click(await screen.findByRole("button", { name: `Import ${rows} rows` }));
  };
  await send("name,image\nRed,\nBlue,no address\n", 2);
  expect(await screen.findByText("1 imported, 1 refused")).toBeVisible();

  // Saved by another program, with the refused row corrected.
  await send("name,image\r\nRed,\r\nBlue,https://lookbook.test/blue.webp", 2);
  expect(await screen.findByText("1 imported, 0 refused, 1 row is there already")).toBeVisible();
  await send("name,image\nRed,\nBlue,https://lookbook.test/blue.webp\n", 2);
  expect(await screen.findByText("0 imported, 0 refused, 2 rows are there already")).toBeVisible();
  expect(await screen.findByText("Nothing to import")).toBeVisible();
  // Which ones, and under which name somebody has to look for them.
  expect(screen.getByText(/^Row 2:/)).toHaveTextContent("there already under the same name");
  expect(screen.getByText(/^Row 3/)).toHaveTextContent(
    "Row 3 (Blue): there already under the name Navy, and unchanged",
  );
});

it("does not ask about the next import what was asked about the one before", async () => {
  let answer = () => {};
  vi.stubGlobal("fetch", async () => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return Response.json({ code: "57014", message: "Too slow." }, { status: 500 });
  });
  await userEvent.upload(await open(), new File(["name\nRed\nBlue\n"], "a.csv"));
  const start = await screen.findByRole("button", { name: "Import 2 rows" });
  await userEvent.click(start);
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Stop the import?")).toBeVisible();
  answer();
  expect(await screen.findByText("Import failed")).toBeVisible();
  await waitFor(() => expect(screen.queryByText("Stop the import?")).toBeNull());

  await userEvent.click(await screen.findByRole("button", { name: "Import 2 rows" }));
  expect(screen.queryByText("Stop the import?")).toBeNull();
  answer();
});

it("says that a file could not be read, and does not offer to import the one before it", async () => {
  const file = new File(["name\nRed\n"], "a.csv");
  file.arrayBuffer = () => Promise.reject(new DOMException("moved", "NotFoundError"));
  const input = await open();
  await userEvent.upload(input, new File(["name\nBlue\nGreen\n"], "before.csv"));
  expect(await screen.findByRole("button", { name: "Import 2 rows" })).toBeVisible();
  await userEvent.upload(input, file);

  expect(await screen.findByText("The file could not be read")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Import 2 rows" })).not.toBeInTheDocument();
});
