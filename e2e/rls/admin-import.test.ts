// The CSV import: administrators only, and a bad row never loses the others.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, uniqueName } from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectRefused } from "../support/expectations.ts";

let attacker: Person;
let admin: Person;

beforeAll(async () => {
  attacker = await signUp();
  admin = await signUpAdmin();
});

describe("import_rows", () => {
  test("is refused to visitors and users, and imports nothing", async () => {
    const name = uniqueName("Color");
    const call = { target: "colors", entries: [{ name, hexCode: "#112233" }] };

    expectRefused(
      await visitor().rpc("import_rows", call),
      401,
      "42501",
      /permission denied for function/,
    );
    expectRefused(
      await attacker.client.rpc("import_rows", call),
      403,
      "42501",
      /Only an administrator/,
    );
    expect(await fetchRows("colors", "name", name)).toEqual([]);
  });

  test("makes a row with an id once, however often it is sent, and leaves it as it is then", async () => {
    const name = uniqueName("Style");
    const id = randomUUID();
    const send = (description: string) =>
      admin.client.rpc("import_rows", {
        target: "outfit_styles",
        entries: [{ id, name, description }],
      });
    const answer = (was_there: boolean) => [{ place: 0, error: null, was_there }];

    expect(expectData(await send("As it was sent"))).toEqual(answer(false));
    expect(expectData(await send("Sent once more"))).toEqual(answer(true));
    expect(await fetchRows("outfit_styles", "name", name)).toMatchObject([
      { id, description: "As it was sent" },
    ]);
  });

  test("imports the good rows and answers for each of the others", async () => {
    const name = uniqueName("Color");

    const answers = expectData(
      await admin.client.rpc("import_rows", {
        target: "colors",
        entries: [
          { name, hexCode: "#1Af" },
          { name: name.toUpperCase(), hexCode: "#112233" },
          { name: `${name} II`, hexCode: "red" },
          { hexCode: "#112233" },
          { name: `=${name}`, hexCode: "#445566" },
        ],
      }),
    );

    expect(answers).toMatchObject([
      { place: 0, error: null },
      { place: 1, error: "There is a row with this name already." },
      { place: 2, error: "Invalid hex color code (e.g. #FF0000)" },
      { place: 3, error: "There is no value for name." },
      { place: 4, error: null },
    ]);
    expect(await fetchRows("colors", "name", name)).toMatchObject([{ hex_code: "#11AAff" }]);
    expect(await fetchRows("colors", "name", `=${name}`)).toHaveLength(1);
  });

  test("gives outfit styles without a name the default name", async () => {
    const description = uniqueName("Imported");
    expectData(
      await admin.client.rpc("import_rows", {
        target: "outfit_styles",
        entries: [{ name: " ", description }],
      }),
    );

    expect(await fetchRows("outfit_styles", "description", description)).toMatchObject([
      { name: "Unnamed Style" },
    ]);
  });

  test.each([
    ["another table", { target: "profiles", entries: [] }],
    ["more than 500 rows", { target: "colors", entries: Array(501).fill({}) }],
    ["what is no list", { target: "colors", entries: { name: randomUUID() } }],
  ])("refuses %s", async (_, call) => {
    const response = await admin.client.rpc("import_rows", call);

    expectRefused(response, 400, "22023", /import/);
  });
});
