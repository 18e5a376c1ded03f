// @vitest-environment node
import { expect, test } from "vitest";
import { decodeCsv, hasIds, identifyRows, parseCsv, writeCsv } from "@/lib/csv";

test("quoted cells may hold commas, quotes and line breaks", () => {
  const text = '\uFEFFname,hexCode\r\n"Red, ""warm""\nand deep",#F00\r\n\r\n=1+1,#0F0\r\n';
  expect(parseCsv(text, ["name", "hexCode"])).toEqual({
    rows: [
      { name: 'Red, "warm"\nand deep', hexCode: "#F00" },
      { name: "=1+1", hexCode: "#0F0" },
    ],
    // As a spreadsheet numbers them: with the header and the empty row.
    places: [2, 4],
    columns: ["name", "hexCode"],
    untitled: [],
    missing: [],
    surplus: [],
    short: [],
    openQuote: null,
  });
});

test("a row with more cells than the header is no row of the file, and its place is named", () => {
  const text = "name,description\nRed,warm, and deep\nBlue,cold\nGreen,fresh,,\n";
  expect(parseCsv(text, ["name"])).toMatchObject({
    rows: [
      { name: "Blue", description: "cold" },
      { name: "Green", description: "fresh" },
    ],
    places: [3, 4],
    surplus: [2],
  });
});

test("a column without a name that has cells is named by its number, and one without cells is nothing", () => {
  expect(parseCsv(",name,,\n0,Red,,\n1,Blue,x,\n", ["name"])).toMatchObject({
    columns: ["name"],
    untitled: [1, 3],
    missing: [],
    short: [],
  });
});

test("a row that a line break without quotes has cut is named, with what became of the rest", () => {
  const { rows, short } = parseCsv("name,description\nRed,warm\nand deep\n\nBlue,cold\nGreen\n", [
    "name",
  ]);
  expect(rows.map(({ name }) => name)).toEqual(["Red", "and deep", "Blue", "Green"]);
  expect(short).toEqual([3, 6]);
});

test("a row has the same id in each file that has its cells, and no other row has it", async () => {
  const idsOf = async (text: string) =>
    (await identifyRows(parseCsv(text, ["name"]).rows, ["name", "description"])).map(
      ({ id }) => id,
    );
  const first = await idsOf("name,description\nRed,warm\nBlue,cold\nRed,warm\nRed,\n");
  // As a spreadsheet saves it: CRLF, blanks, one more column. The second row was corrected, so it alone gets another id.
  const corrected = await idsOf(
    "other,name,description\r\n1,Red , warm\r\n2,Blue,cool\r\n3,Red,warm\r\n4,Red,",
  );

  expect([corrected[0], corrected[2], corrected[3]]).toEqual([first[0], first[2], first[3]]);
  expect(corrected[1]).not.toBe(first[1]);
  expect(new Set(first).size).toBe(4);
  for (const id of first)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("an exported row keeps its id, also after its cells were changed", async () => {
  const id = "0b5cf0a2-7a50-4d2e-9a43-0c6a3a9f1c11";
  const file = writeCsv(
    ["name", "price", "id"],
    [
      { name: "Alba", price: "19.90", id },
      { name: "New", price: "5", id: "" },
    ],
  );
  const { rows } = parseCsv(file.replace("19.90", "25").replace(id, ` ${id.toUpperCase()}`), []);
  const [kept, made] = await identifyRows(rows, ["name", "price"]);

  expect(hasIds(rows)).toBe(true);
  expect(kept).toEqual({ name: "Alba", price: "25", id });
  expect(made?.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8/);
  // Numbers of rows, as other programs write them, are no ids.
  const numbered = parseCsv("id,name\n7,Alba\n", []).rows;
  expect(hasIds(numbered)).toBe(false);
  expect((await identifyRows(numbered, ["name"]))[0]?.id).toMatch(/^[0-9a-f]{8}-/);
});

test("a quotation mark that is not closed is noticed", () => {
  expect(parseCsv('name\nRed\n"Blue\nGreen\n', ["name"]).openQuote).toBe(3);
});

test("a file without the template's columns names them, and what it has", () => {
  const { missing, columns } = parseCsv("Name,HexCode\nRed,#F00\n", ["name", "hexCode"]);
  expect([missing, columns]).toEqual([
    ["name", "hexCode"],
    ["Name", "HexCode"],
  ]);
});

test("cells that a spreadsheet would run are written as text", () => {
  expect(writeCsv(["name"], [{ name: "=1+1" }, { name: "Red, warm" }])).toBe(
    'name\r\n"\'=1+1"\r\n"Red, warm"',
  );
  // Read again, the cell is as it was.
  expect(parseCsv("name\r\n\"'=1+1\"\r\n'tis", ["name"]).rows).toEqual([
    { name: "=1+1" },
    { name: "'tis" },
  ]);
});

test("names with apostrophes, and formulas of several lines, come back as they were", () => {
  const names = ["'-90s", "''=x", "-90s", "=1\n+2", "'tis", "'"];
  const text = writeCsv(
    ["name"],
    names.map((name) => ({ name })),
  );

  expect(text).toContain('"\'=1\n+2"');
  expect(parseCsv(text, []).rows.map(({ name }) => name)).toEqual(names);
});

test("no letter is lost, whatever program has saved the file", () => {
  const latin = Uint8Array.from([0x47, 0x72, 0xfc, 0x6e, 0x20, 0xe9]);
  const utf16 = Uint8Array.from([0xff, 0xfe, 0x47, 0, 0x72, 0, 0xfc, 0, 0x6e, 0, 0x20, 0, 0xe9, 0]);
  for (const bytes of [utf16, new TextEncoder().encode("Grün é")]) {
    expect(decodeCsv(bytes)).toEqual({ text: "Grün é", doubt: null });
  }
  // A guess is said, with a word by which it can be judged.
  expect(decodeCsv(latin)).toEqual({
    text: "Grün é",
    doubt: expect.stringMatching(/read as Windows-1252, for example “Grün”/),
  });
});

test("one invalid byte in a file of UTF-8 changes no other letter, and is said", () => {
  const damage = (text: string) => {
    const bytes = new TextEncoder().encode(text);
    bytes[bytes.length - 1] = 0xff;
    return bytes;
  };
  for (const text of ["Grün, Café, x", "\uFEFFGreen, x"]) {
    expect(decodeCsv(damage(text))).toEqual({
      text: text.replace("\uFEFF", "").replace(/x$/, "\uFFFD"),
      doubt: expect.stringMatching(/1 character could not be read/),
    });
  }
});

test("rows keep their ids when a later version knows a column that they leave blank", async () => {
  const rows = [
    { name: "Coat", subcategory: "" },
    { name: "Coat", subcategory: "Trench" },
  ];
  const [before] = await identifyRows([{ name: "Coat" }], ["name"]);
  const [blank, filled] = await identifyRows(rows, ["name", "subcategory"]);

  expect(blank?.id).toBe(before?.id);
  expect(filled?.id).not.toBe(before?.id);
});
