import { afterEach, beforeEach, expect, it, vi } from "vitest";

type Documents = typeof import("./documents");

const removals: (() => void)[] = [];

/** The module as a window of its own would have it. */
async function openWindow(owner = "wardrobe"): Promise<Documents> {
  vi.resetModules();
  const add = vi.spyOn(window, "addEventListener");
  const documents = await import("./documents");
  for (const [type, listener] of add.mock.calls) {
    removals.push(() => window.removeEventListener(type, listener as EventListener));
  }
  add.mockRestore();
  documents.openDocuments(owner);
  return documents;
}

/** The event that the other windows get; here all of them do. */
const tell = (key: string) => window.dispatchEvent(new StorageEvent("storage", { key }));
const listKey = "console:wardrobe:sql:tabs";
const textKey = (id: string) => `console:wardrobe:sql:text:${id}`;
const readTabs = (): { id: string; name: string }[] =>
  JSON.parse(localStorage.getItem(listKey) ?? "[]");

beforeEach(() => localStorage.clear());
afterEach(() => {
  for (const remove of removals.splice(0)) remove();
  vi.restoreAllMocks();
});

it("console_031_the_text_of_the_first_tab_survives_a_reload", async () => {
  const before = await openWindow();
  const [tab] = readTabs();
  before.keepText(tab?.id ?? "", "select 'typed'");

  const after = await openWindow();

  expect(readTabs()[0]).toEqual(tab);
  expect(after.readText(tab?.id ?? "")).toBe("select 'typed'");
});

it("console_031_a_tab_that_one_window_opens_is_not_lost_when_another_opens_one_too", async () => {
  const first = await openWindow();
  const second = await openWindow();
  first.addDocument("select 1", "mine");
  // The event of the first window has not come yet.
  second.addDocument("select 2", "theirs");

  expect(readTabs().map(({ name }) => name)).toEqual(["Query 1", "mine", "theirs"]);
});

it("console_091_what_is_typed_is_what_the_screen_has_and_runs", async () => {
  const documents = await openWindow();
  const { act, renderHook } = await import("@testing-library/react");
  const id = readTabs()[0]?.id ?? "";
  const { result } = renderHook(() => documents.useText(id));
  act(() => void documents.keepText(id, "select 1"));

  expect(result.current).toBe("select 1");
});

it("console_031_a_window_follows_the_text_that_another_types", async () => {
  const first = await openWindow();
  const second = await openWindow();
  const id = readTabs()[0]?.id ?? "";
  expect(second.readText(id)).toBe("");

  first.keepText(id, "select 1");
  tell(textKey(id));

  expect(second.readText(id)).toBe("select 1");
  expect(second.keepText(id, "select 12")).toEqual({ isKept: true, id });
});

it("console_031_a_text_that_was_taken_from_another_window_is_not_written_again", async () => {
  const first = await openWindow();
  const second = await openWindow();
  const id = readTabs()[0]?.id ?? "";
  second.readText(id);
  first.keepText(id, "sel");
  tell(textKey(id));
  first.keepText(id, "sele");
  // The editor of the second window reports the text that it was given before the next event comes.
  second.keepText(id, "sel");

  expect(localStorage.getItem(textKey(id))).toBe("sele");
  expect(readTabs()).toHaveLength(1);
});

it("console_031_texts_that_two_windows_have_typed_at_once_become_two_tabs", async () => {
  const first = await openWindow();
  const second = await openWindow();
  const id = readTabs()[0]?.id ?? "";
  second.readText(id);
  first.keepText(id, "select 'first'");
  const kept = second.keepText(id, "select 'second'");

  expect(kept.id).not.toBe(id);
  expect(localStorage.getItem(textKey(id))).toBe("select 'first'");
  expect(localStorage.getItem(textKey(kept.id))).toBe("select 'second'");
  expect(readTabs().map(({ name }) => name)).toEqual(["Query 1", "Query 1 (mine)"]);
});

it("console_003_a_tab_that_was_closed_in_one_window_is_reopened_in_another", async () => {
  const first = await openWindow();
  const second = await openWindow();
  const id = readTabs()[0]?.id ?? "";
  first.keepText(id, "select 'kept'");
  first.removeDocument(id);
  tell(listKey);

  expect(second.reopenDocument()).toBe(id);
  expect(second.readText(id)).toBe("select 'kept'");
  expect(first.reopenDocument()).toBeNull();
});

it("console_031_each_account_has_its_own_tabs", async () => {
  const documents = await openWindow("wardrobe:ana");
  documents.addDocument("select secret", "of ana");

  await openWindow("wardrobe:ben");
  expect(localStorage.getItem("console:wardrobe:ben:sql:tabs")).not.toContain("of ana");
});

it("console_031_a_tab_for_which_there_was_no_room_stays_when_the_list_is_changed_again", async () => {
  const documents = await openWindow();
  const refuse = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  const id = documents.addDocument("select 'typed'", "mine");
  documents.changeDocument(id, { name: "renamed" });
  refuse.mockRestore();
  documents.addDocument("select 2");

  expect(documents.readText(id)).toBe("select 'typed'");
  expect(readTabs()).toContainEqual(expect.objectContaining({ id, name: "renamed" }));
});

it("console_031_a_text_that_could_not_be_stored_is_not_replaced_by_another_window", async () => {
  const first = await openWindow();
  const second = await openWindow();
  const id = readTabs()[0]?.id ?? "";
  second.readText(id);
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  expect(second.keepText(id, "unsaved").isKept).toBe(false);
  vi.restoreAllMocks();
  first.keepText(id, "other");
  tell(textKey(id));

  expect(second.readText(id)).toBe("unsaved");
});

it("console_031_a_text_without_room_is_there_again_when_its_account_is_back", async () => {
  const isAsked = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));
  const documents = await openWindow("ana");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  const id = documents.addDocument("select 'of ana'", "mine");
  documents.openDocuments("ben");
  expect(documents.readText(id)).toBe("");
  expect(isAsked()).toBe(true);

  vi.restoreAllMocks();
  documents.openDocuments("ana");
  expect(documents.readText(id)).toBe("select 'of ana'");
  documents.changeDocument(id, { name: "renamed" });
  const tabs: unknown[] = JSON.parse(localStorage.getItem("console:ana:sql:tabs") ?? "[]");
  expect(tabs).toContainEqual(expect.objectContaining({ id, name: "renamed" }));
});

it("console_031_a_held_text_does_not_replace_what_another_window_has_stored_meanwhile", async () => {
  const documents = await openWindow("ana");
  const key = (id: string) => `console:ana:sql:text:${id}`;
  const id = documents.addDocument("select 'stored'", "mine");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  documents.keepText(id, "select 'held'");
  documents.openDocuments("ben");
  vi.restoreAllMocks();
  localStorage.setItem(key(id), "select 'of the other window'");
  documents.openDocuments("ana");
  const kept = documents.keepText(id, "select 'held', 2");

  expect(localStorage.getItem(key(id))).toBe("select 'of the other window'");
  expect(kept.id).not.toBe(id);
  expect(documents.readText(kept.id)).toBe("select 'held', 2");
});

it("console_031_tabs_of_an_earlier_version_are_taken_over_once", async () => {
  const old = { id: "1", name: "Old", snippet: null };
  localStorage.setItem("console:my shop:sql:tabs", JSON.stringify([old]));
  localStorage.setItem("console:my shop:sql:text:1", "select 'kept'");
  localStorage.setItem("console:my shop:sql:history", "[]");
  const documents = await openWindow("elsewhere");
  const session = {
    mode: "serve",
    login: true,
    project: { name: "my shop", key: "k" },
    version: "1",
    account: { name: "ana", level: "admin" },
  } as const;
  documents.openDocumentsOf(session);

  expect(documents.readText("1")).toBe("select 'kept'");
  const left = Object.keys(localStorage).filter((key) => key.startsWith("console:my shop"));
  expect(left).toEqual([]);
  // The next account does not get them.
  documents.openDocumentsOf({ ...session, account: { name: "ben", level: "admin" } });
  expect(documents.readText("1")).toBe("");
});

it("console_091_a_closed_tab_of_one_account_is_not_reopened_by_another", async () => {
  const documents = await openWindow("shop:ana");
  // Longer than what is stored of closed tabs, so only the window knows it.
  const id = documents.addDocument("x".repeat(300_000));
  documents.removeDocument(id);
  documents.openDocuments("shop:ben");

  expect(documents.reopenDocument()).toBeNull();
});
