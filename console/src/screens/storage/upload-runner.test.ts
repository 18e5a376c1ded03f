import "fake-indexeddb/auto";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

type Runner = typeof import("./upload-runner");

/** What was sent, in order: the tab, the bucket and the name. */
const sent: string[] = [];
/** The project that the address serves. */
let project = "shop";
/** The key of its database; undefined for a server that has none. */
let key: string | null | undefined;

/** Locks of the browser, which all tabs share. */
class FakeLocks {
  private readonly held = new Map<string, Promise<unknown>>();
  readonly dead = new Set<string>();

  async request<T>(name: string, run: () => Promise<T>): Promise<T> {
    await this.held.get(name);
    const running = run();
    this.held.set(name, running);
    // A lock that never ends is held as long as its tab lives.
    return await running.finally(() => this.held.delete(name));
  }

  async query() {
    return {
      held: [...this.held.keys()].filter((name) => !this.dead.has(name)).map((name) => ({ name })),
    };
  }
}

let locks: FakeLocks;

beforeEach(() => {
  sent.length = 0;
  project = "shop";
  key = undefined;
  locks = new FakeLocks();
  vi.stubGlobal("navigator", { locks });
  vi.stubGlobal("fetch", async () =>
    Response.json({ mode: "start", login: false, project: { name: project, key }, version: "1" }),
  );
});
afterEach(() => {
  // Without uploads none of them asks any more who is here.
  for (const tab of tabs.splice(0)) tab.openUploads("nobody");
  vi.unstubAllGlobals();
  vi.doUnmock("./tus-client");
});

/** The tabs of the running test. */
const tabs: Runner[] = [];

/** Opens the module as a tab of its own would have it. What is sent stays under way. */
async function openTab(name: string, owner: string, earlier: string[] = []) {
  vi.resetModules();
  vi.doMock("./tus-client", () => ({
    sendFile: (upload: { bucket: string; name: string }) => {
      sent.push(`${name}: ${upload.bucket}/${upload.name}`);
      return () => undefined;
    },
  }));
  const runner: Runner = await import("./upload-runner");
  const { thisTab } = await import("@/lib/tab-claim");
  runner.openUploads(owner, earlier);
  tabs.push(runner);
  return { ...runner, close: () => locks.dead.add(`console:tab:${thisTab}`) };
}

const file = (name: string) => new File(["x"], name, { lastModified: 1 });
const chosen = (name: string) => ({ file: file(name), path: name });

/** Reads the queue as the screen does, which also takes over what closed tabs have left. */
async function show(tab: Runner) {
  const { renderHook } = await import("@testing-library/react");
  return renderHook(() => tab.useUploads()).result;
}

it("console_120_two_tabs_do_not_send_the_same_files", async () => {
  project = "owner-1";
  const first = await openTab("first", "owner-1");
  await first.addFiles("photos", "", [chosen("a.png")]);
  await vi.waitFor(() => expect(sent).toEqual(["first: photos/a.png"]));

  const second = await openTab("second", "owner-1");
  const shown = await show(second);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(shown.current).toEqual([]);
  expect(sent).toHaveLength(1);
});

it("console_120_a_tab_takes_over_what_a_closed_one_has_left", async () => {
  project = "owner-2";
  const first = await openTab("first", "owner-2");
  await first.addFiles("photos", "", [chosen("a.png")]);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  first.close();

  const second = await openTab("second", "owner-2");
  const shown = await show(second);
  // The database of this test does not give files back; a browser's does, and the upload then goes on.
  await vi.waitFor(() => expect(shown.current).toMatchObject([{ name: "a.png", state: "failed" }]));
  const third = await openTab("third", "owner-2");
  expect((await show(third)).current).toEqual([]);
});

it("console_120_the_files_of_one_project_are_never_sent_to_another", async () => {
  const shop = await openTab("shop", "shop");
  await shop.addFiles("photos", "", [chosen("a.png")]);
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  shop.close();

  // Another project on the same port has a queue of its own.
  project = "museum";
  const museum = await openTab("museum", "museum");
  expect((await show(museum)).current).toEqual([]);

  // A page of the first project that is still open meets the other project.
  const old = await openTab("old", "shop");
  await show(old);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(sent).toHaveLength(1);
});

it("console_120_a_dropped_folder_of_20_000_files_never_blocks_the_page", async () => {
  project = "large";
  // The database of this test is slower than a browser's, and the queue works without one, too.
  vi.stubGlobal("indexedDB", undefined);
  const tab = await openTab("large", "large");
  const files = Array.from({ length: 20_000 }, (_, index) => chosen(`${index}.png`));
  let longest = 0;
  let last = performance.now();
  const ticks = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await tab.addFiles("photos", "folder/", files);
  clearInterval(ticks);

  // Each part is short; the whole took minutes. A busy machine may stop the test for a while.
  expect(longest).toBeLessThan(1500);
  expect((await show(tab)).current).toHaveLength(20_000);
  await vi.waitFor(() => expect(sent).toHaveLength(3));
});

it("console_120_uploads_of_earlier_versions_are_taken_over_once_and_wait", async () => {
  project = "owner-3";
  const upload = {
    bucket: "photos",
    size: 1,
    type: "",
    lastModified: 1,
    state: "uploading",
    sent: 0,
  };
  const old = { ...upload, id: "1", name: "a.png", upsert: false, url: "/api/x", error: null };
  localStorage.setItem("console:uploads", JSON.stringify({ form: 1, uploads: [old] }));
  const before = await openTab("before", "owner-3-without-key");
  before.openUploads("owner-3-without-key");
  const { openUploadStore } = await import("./upload-store");
  await openUploadStore("owner-3-without-key").put([
    { ...old, state: "paused", id: "2", name: "b.png", chosenName: "b.png", tab: "gone" },
  ]);

  const tab = await openTab("tab", "owner-3", ["owner-3-without-key"]);
  const shown = await show(tab);

  await vi.waitFor(() => expect(shown.current).toHaveLength(2));
  // The files are gone, so they are to be chosen again; neither is sent to a project that may be another one.
  expect(shown.current).toMatchObject([
    { name: "a.png", state: "file_missing", url: null },
    { name: "b.png", state: "file_missing" },
  ]);
  expect(sent).toEqual([]);
  expect(localStorage.getItem("console:uploads")).toBeNull();
});

it("console_120_what_one_account_has_added_is_not_stored_for_the_next", async () => {
  project = "owner-4";
  const tab = await openTab("tab", "owner-4");
  await tab.addFiles("photos", "", [chosen("a.png"), chosen("b.png")]);
  // Before the queue has been written.
  tab.openUploads("owner-5");
  tab.close();

  const { openUploadStore } = await import("./upload-store");
  await vi.waitFor(async () => expect(await openUploadStore("owner-4").list()).toHaveLength(2));
  expect(await openUploadStore("owner-5").list()).toEqual([]);
});

it("console_120_files_that_are_still_being_added_do_not_go_into_the_queue_of_the_next_account", async () => {
  project = "owner-8";
  const tab = await openTab("tab", "owner-8");
  const files = Array.from({ length: 1200 }, (_, index) => chosen(`${index}.png`));
  const adding = tab.addFiles("photos", "", files);
  tab.openUploads("owner-9");
  await adding;

  expect((await show(tab)).current).toEqual([]);
});

it("console_120_a_file_is_stored_after_its_upload_so_that_no_tab_takes_it_for_a_left_over", async () => {
  project = "owner-6";
  const stored: string[] = [];
  const put = IDBObjectStore.prototype.put;
  vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (
    this: IDBObjectStore,
    ...given: Parameters<IDBObjectStore["put"]>
  ) {
    // Tabs of other tests may still be writing.
    if (this.transaction.db.name === "console-uploads:owner-6") stored.push(this.name);
    return put.apply(this, given);
  });
  const tab = await openTab("tab", "owner-6");
  await tab.addFiles("photos", "", [chosen("a.png"), chosen("b.png")]);

  await vi.waitFor(() => expect(stored.filter((name) => name === "files")).toHaveLength(2));
  expect(stored.slice(0, 2)).toEqual(["uploads", "uploads"]);
  vi.restoreAllMocks();
});

it("console_120_a_restarted_database_pauses_nothing_and_held_uploads_go_on_when_their_project_is_back", async () => {
  project = "owner-7";
  key = null;
  const tab = await openTab("tab", "owner-7@k1");
  const shown = await show(tab);
  await tab.addFiles("photos", "", [chosen("a.png")]);
  await vi.waitFor(() => expect(sent).toHaveLength(1), { timeout: 20_000 });

  // Another project is here for a moment.
  project = "elsewhere";
  key = "k2";
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await tab.addFiles("photos", "", [chosen("b.png")]);
  await vi.waitFor(() => expect(shown.current.map(({ state }) => state)).toContain("paused"), {
    timeout: 20_000,
  });
  expect(sent).toHaveLength(1);
  project = "owner-7";
  key = "k1";
  await vi.waitFor(() => expect(sent).toContain("tab: photos/b.png"), { timeout: 20_000 });
});
