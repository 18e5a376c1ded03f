import { beforeEach, expect, it, vi } from "vitest";
import { undoEdit } from "@/lib/admin-rows";
import { OvertakenError, saveChanges } from "@/lib/save-changes";

/** The row as it is stored. */
let stored: Record<string, unknown>;
let updates: unknown[];
/** What happens between reading and writing. */
let afterRead: () => void;

beforeEach(() => {
  updates = [];
  stored = { id: "1", name: "Atelier", description: null, colors: ["a"], price: 10.5 };
  afterRead = () => undefined;
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (init?.method !== "PATCH") {
      const read = Response.json(stored);
      afterRead();
      return read;
    }
    const name = new URL(String(input), "http://localhost").searchParams.get("name");
    if (name !== null && name !== `eq.${stored.name}`) return Response.json([]);
    const changes = JSON.parse(String(init.body));
    updates.push(changes);
    stored = { ...stored, ...changes };
    return Response.json([{ id: "1" }]);
  });
});

const before = { name: "Atelier", description: "", colors: ["a"], price: 10.5 };

it("saves the changed columns alone, so that what another administrator has saved stays", async () => {
  stored.description = "Of the other";
  await saveChanges("items", "1", before, { ...before, name: "Maison", price: 12 });

  expect(updates).toEqual([{ name: "Maison", price: 12 }]);
  expect(stored.description).toBe("Of the other");
});

it("refuses a column that both have changed, and saves it when the administrator insists", async () => {
  stored = { ...stored, name: "Of the other", colors: ["b"] };
  const mine = { ...before, name: "Mine", colors: ["c"] };
  const failure = await saveChanges("items", "1", before, mine).catch((error: unknown) => error);

  expect(updates).toEqual([]);
  expect(failure).toBeInstanceOf(OvertakenError);
  const { message, theirs } = failure as OvertakenError;
  expect(message).toContain("Name (now “Of the other”), Colors. Save again");

  await saveChanges("items", "1", { ...before, ...theirs } as typeof before, mine);
  expect(updates).toEqual([{ name: "Mine", colors: ["c"] }]);
});

it("notices what is saved between its reading and its writing", async () => {
  afterRead = () => {
    stored.name = "Of the other";
  };
  const failure = await saveChanges("items", "1", before, { ...before, name: "Mine" }).catch(
    (error: unknown) => error,
  );

  expect(failure).toBeInstanceOf(OvertakenError);
  expect((failure as OvertakenError).undoText).not.toContain("Save again");
  expect(updates).toEqual([]);
});

it("does not ask when both have saved the same, or nothing was changed", async () => {
  stored.name = "Same";
  await saveChanges("items", "1", before, { ...before, name: "Same" });
  await saveChanges("items", "1", before, { ...before });

  expect(updates).toEqual([{ name: "Same" }]);
});

it("an undo takes back its own edit alone, and not what was saved since", async () => {
  const after = { ...before, name: "Maison" };
  await saveChanges("items", "1", before, after);
  const undo = undoEdit<typeof before>(({ id, values, before: base }) =>
    id === null ? Promise.resolve() : saveChanges("items", id, base, values),
  );
  stored = { ...stored, description: "Of the other" };
  await undo({ id: "1", values: after, before })?.();
  expect(stored).toMatchObject({ name: "Atelier", description: "Of the other" });

  stored.name = "Of the other";
  await expect(undo({ id: "1", values: after, before })?.()).rejects.toThrow(/by somebody else/);
});
