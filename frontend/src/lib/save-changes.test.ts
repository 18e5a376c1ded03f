import { beforeEach, describe, expect, it, vi } from "vitest";
import { undoEdit } from "@/lib/admin-rows";
import { insertOnce } from "@/lib/insert-once";
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

describe("a new row whose first response was lost", () => {
  let isMade: boolean;

  beforeEach(() => {
    isMade = false;
    const change = fetch;
    vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
      if (init?.method !== "POST") return change(input, init);
      const message = 'duplicate key value violates unique constraint "items_pkey"';
      if (isMade) return Response.json({ code: "23505", message }, { status: 409 });
      isMade = true;
      stored = { ...JSON.parse(String(init.body)), version: 1 };
      throw new TypeError("Failed to fetch");
    });
  });
  const insert = (values: object) => insertOnce("items", "new", values);

  it("is created once, with the values of the second attempt", async () => {
    await expect(insert({ name: "Coat", color: "" })).rejects.toThrow();
    await insert({ name: "Coat", color: "" });
    expect(updates).toEqual([]);
    await insert({ name: "Wool coat", color: "" });
    expect(stored).toMatchObject({ name: "Wool coat", version: 2 });
  });

  it("is not written over what somebody else has saved in it since", async () => {
    await expect(insert({ name: "Coat" })).rejects.toThrow();
    saveElsewhere({ name: "Of the other" });
    const failure = await insert({ name: "Wool coat" }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(OvertakenError);
    expect((failure as OvertakenError).theirs).toEqual({ name: "Of the other" });
    expect(stored.name).toBe("Of the other");
  });
});
