import { beforeEach, expect, it, vi } from "vitest";
import { insertOnce, undoEdit } from "@/lib/admin-rows";
import { keptText, OvertakenError, saveChanges } from "@/lib/save-changes";

/** The row as it is stored. */
let stored: Record<string, unknown>;
let updates: unknown[];

beforeEach(() => {
  updates = [];
  stored = { id: "1", version: 1, name: "Atelier", description: null, colors: ["a"], price: 10.5 };
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== "PATCH") return Response.json(stored);
    const { version, ...changes } = JSON.parse(String(init.body));
    if (version !== stored.version) {
      const details = JSON.stringify({ version: stored.version });
      return Response.json({ code: "PT409", message: "Changed.", details }, { status: 409 });
    }
    updates.push(changes);
    stored = { ...stored, ...changes, version: version + 1 };
    return Response.json([{ id: "1" }]);
  });
});

/** What somebody else saves. */
function saveElsewhere(changes: object): void {
  stored = { ...stored, ...changes, version: Number(stored.version) + 1 };
}

const edited = { id: "1", version: 1 };
const before = { name: "Atelier", description: "", colors: ["a"], price: 10.5 };

it("saves the changed columns alone, so that what another administrator has saved stays, and tells about it", async () => {
  saveElsewhere({ description: "Of the other" });
  const others = await saveChanges("items", edited, before, {
    ...before,
    name: "Maison",
    price: 12,
  });

  expect(updates).toEqual([{ name: "Maison", price: 12 }]);
  expect(stored.description).toBe("Of the other");
  expect(keptText(others)).toBe("Changed by somebody else meanwhile, and kept: Description.");
});

it("refuses a column that both have changed, and saves it when the administrator insists", async () => {
  saveElsewhere({ name: "Of the other", colors: ["b"], description: "Of the other" });
  const mine = { ...before, name: "Mine", colors: ["c"] };
  const failure = await saveChanges("items", edited, before, mine).catch((error: unknown) => error);

  expect(updates).toEqual([]);
  expect(failure).toBeInstanceOf(OvertakenError);
  const { message, theirs, others, present } = failure as OvertakenError;
  expect(message).toContain("Name (now “Of the other”), Colors. Save again");
  expect([Object.keys(theirs), others]).toEqual([["name", "colors"], ["description"]]);

  const base = { ...before, ...theirs } as typeof before;
  await saveChanges("items", { id: "1", version: Number(present.version) }, base, mine);
  expect(updates).toEqual([{ name: "Mine", colors: ["c"] }]);
});

it("does not ask when both have saved the same, or nothing was changed", async () => {
  saveElsewhere({ name: "Same" });
  await saveChanges("items", edited, before, { ...before, name: "Same" });
  await saveChanges("items", edited, before, { ...before });

  expect(updates).toEqual([{ name: "Same" }]);
});

it("asks about columns that belong together as one, although each was changed by one person alone", async () => {
  const shoes = { category: "shoes", subcategory_id: null };
  stored = { ...stored, ...shoes };
  saveElsewhere({ subcategory_id: "boots" });
  const mine = { ...shoes, category: "coats" };
  const together = ["category", "subcategory_id"];
  const failure = await saveChanges("items", edited, shoes, mine, together).catch(
    (error: unknown) => error,
  );

  expect(updates).toEqual([]);
  expect((failure as OvertakenError).theirs).toEqual({
    category: "shoes",
    subcategory_id: "boots",
  });
});

it("does not write to a row that cannot be read any more", async () => {
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) =>
    init?.method === "PATCH"
      ? Response.json({ code: "PT409", message: "Changed." }, { status: 409 })
      : Response.json([]),
  );

  await expect(saveChanges("items", edited, before, { ...before, name: "Mine" })).rejects.toThrow(
    /The row is gone/,
  );
});

it("an undo takes back its own edit alone, and not what was saved since", async () => {
  const after = { ...before, name: "Maison" };
  await saveChanges("items", edited, before, after);
  const undo = undoEdit<typeof before>((change) =>
    change.id === null
      ? Promise.resolve()
      : saveChanges("items", change, change.before, change.values),
  );
  saveElsewhere({ description: "Of the other" });
  await undo({ id: "1", values: after, before })?.();
  expect(stored).toMatchObject({ name: "Atelier", description: "Of the other" });

  saveElsewhere({ name: "Of the other" });
  await expect(undo({ id: "1", values: after, before })?.()).rejects.toThrow(/by somebody else/);
});

it("a new row is created once, although the response of the first attempt was lost", async () => {
  const sent: unknown[] = [];
  const made = new Set<string>();
  vi.stubGlobal("fetch", async (_: RequestInfo | URL, init?: RequestInit) => {
    const row = JSON.parse(String(init?.body));
    sent.push([init?.method, row]);
    if (init?.method === "PATCH") return Response.json([{ id: "new" }]);
    const isLost = made.size === 0;
    const message = 'duplicate key value violates unique constraint "items_pkey"';
    if (made.has(row.id)) return Response.json({ code: "23505", message }, { status: 409 });
    made.add(row.id);
    if (isLost) throw new TypeError("Failed to fetch");
    return Response.json([{ id: row.id }], { status: 201 });
  });

  await expect(insertOnce("items", "new", { name: "Coat" })).rejects.toThrow();
  await insertOnce("items", "new", { name: "Wool coat" });

  expect(sent).toEqual([
    ["POST", { name: "Coat", id: "new" }],
    ["POST", { name: "Wool coat", id: "new" }],
    ["PATCH", { name: "Wool coat" }],
  ]);
});
