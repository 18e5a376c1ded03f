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

  test("makes a row with an id once, however often it is sent, leaves it as it is then, and tells its present name", async () => {
    const name = uniqueName("Style");
    const id = randomUUID();
    const renamed = uniqueName("Renamed");
    const send = (description: string) =>
      admin.client.rpc("import_rows", {
        target: "outfit_styles",
        entries: [{ id, name, description }],
      });
    const answer = (stored_name: string | null) => [
      { place: 0, error: null, was_there: stored_name !== null, stored_name },
    ];

    expect(expectData(await send("As it was sent"))).toEqual(answer(null));
    expect(expectData(await send("Sent once more"))).toEqual(answer(name));
    expectData(await admin.client.from("outfit_styles").update({ name: renamed }).eq("id", id));
    expect(expectData(await send("Sent a third time"))).toEqual(answer(renamed));
    expect(await fetchRows("outfit_styles", "name", renamed)).toMatchObject([
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

  test("imports items with the names of their brand, category and colors", async () => {
    const [brand, color] = [uniqueName("Brand"), uniqueName("Color")];
    const send = async (target: string, entries: Record<string, string>[]) =>
      expectData(await admin.client.rpc("import_rows", { target, entries }));
    await send("brands", [{ name: brand, logo: "/logo.png" }]);
    await send("colors", [{ name: color, hexCode: "#102030" }]);
    const name = uniqueName("Coat");
    const item = { id: randomUUID(), name, price: "19.90", brand: brand.toUpperCase() };

    expect(
      await send("items", [
        { ...item, colors: `${color}; ${color.toLowerCase()}`, gender: "Women" },
        { ...item, id: randomUUID(), brand: "Nobody's" },
        { ...item, id: randomUUID(), brand: "" },
        { ...item, id: randomUUID(), price: "12.345" },
        { ...item, id: randomUUID(), gender: "children" },
        { ...item, id: randomUUID(), productId: "12a" },
        // More digits than a browser's number holds, and than the form of an item takes.
        { ...item, id: randomUUID(), productId: "1234567890123456" },
        { ...item, id: randomUUID(), productId: "-5" },
        { ...item, id: randomUUID(), price: " " },
        item,
      ]),
    ).toMatchObject([
      { error: null, was_there: false },
      { error: 'There is no brand called "Nobody\'s".' },
      { error: "There is no value for brand." },
      { error: "The price must be a number with at most two digits after the point." },
      { error: "Gender is men, women or unisex." },
      { error: "The product ID must be a number with at most 15 digits." },
      { error: "The product ID must be a number with at most 15 digits." },
      { error: "The product ID must be a number with at most 15 digits." },
      { error: "There is no value for price." },
      { error: null, was_there: true, stored_name: name },
    ]);
    expect(await fetchRows("items", "name", name)).toMatchObject([
      { id: item.id, price: 19.9, gender: "women", category: null, colors: [expect.any(String)] },
    ]);
  });

  test("imports items with a subcategory of their category", async () => {
    const [brand, one, other] = [uniqueName("Brand"), uniqueName("One"), uniqueName("Other")];
    const { client } = admin;
    expectData(await client.from("brands").insert({ name: brand }).select("id"));
    const categories = expectData(
      await client
        .from("categories")
        .insert([{ name: one }, { name: other }])
        .select("id"),
    );
    const below = { category_id: categories[0]?.id, name: uniqueName("Below") };
    const made = expectData(await client.from("subcategories").insert(below).select("id").single());
    const name = uniqueName("Coat");
    const item = { name, price: "1", brand, category: one, subcategory: below.name.toUpperCase() };
    const entries = [
      item,
      { ...item, category: other },
      { ...item, category: "" },
      { ...item, subcategory: "Elsewhere" },
    ];

    expect(expectData(await client.rpc("import_rows", { target: "items", entries }))).toMatchObject(
      [
        { error: null },
        { error: `The category has no subcategory called "${item.subcategory}".` },
        { error: "A subcategory needs its category." },
        { error: 'The category has no subcategory called "Elsewhere".' },
      ],
    );
    expect(await fetchRows("items", "name", name)).toMatchObject([{ subcategory_id: made.id }]);
  });

  test("a row of an exported file, also with another price, is the item that is there", async () => {
    const [brand, name] = [uniqueName("Brand"), uniqueName("Coat")];
    const brands = await admin.client.from("brands").insert({ name: brand }).select("id").single();
    const made = await admin.client
      .from("items")
      .insert({ name, price: 19.9, brand_id: expectData(brands).id })
      .select("id")
      .single();
    const { id } = expectData(made);
    const entries = [
      { id, name, price: "25.00", brand, gender: "unisex" },
      { id, name: `${name} II`, price: "", brand: "Renamed since", productId: "-5" },
    ];

    expect(
      expectData(await admin.client.rpc("import_rows", { target: "items", entries })),
    ).toMatchObject([
      { error: null, was_there: true, stored_name: name },
      { error: null, was_there: true, stored_name: name },
    ]);
    expect(await fetchRows("items", "name", name)).toMatchObject([{ id, price: 19.9 }]);
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
