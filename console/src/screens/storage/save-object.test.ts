import { afterEach, expect, it, vi } from "vitest";
import { loadBeginning, saveObject } from "./save-object";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const target = { base: "http://api/storage/v1", bucket: "films", name: "a/film.mp4" };

it("console_122_a_file_of_5_gigabytes_is_not_loaded_into_the_page", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return Response.json({ signedURL: "/object/sign/films/a/film.mp4?token=t" });
  });
  const opened: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    opened.push(this.href);
  });
  await saveObject({ ...target, size: 5_000_000_000 });

  expect(asked).toEqual(["/api/proxy/storage/object/sign/films/a/film.mp4"]);
  expect(opened).toEqual([
    "http://api/storage/v1/object/sign/films/a/film.mp4?token=t&download=film.mp4",
  ]);
});

it("console_122_a_large_file_is_streamed_to_the_disk_where_the_browser_can", async () => {
  const written: Uint8Array[] = [];
  vi.stubGlobal("fetch", async () => new Response("film"));
  vi.stubGlobal("showSaveFilePicker", async () => ({
    createWritable: async () =>
      new WritableStream<Uint8Array>({ write: (part) => void written.push(part) }),
  }));
  await saveObject({ ...target, size: 5_000_000_000 });

  expect(new TextDecoder().decode(written[0])).toBe("film");
});

it("console_122_a_preview_reads_no_more_than_it_shows_and_cuts_no_character", async () => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1;
      controller.enqueue(new TextEncoder().encode("ééé"));
    },
  });
  vi.stubGlobal("fetch", async () => new Response(body));
  const { text, bytes } = await loadBeginning("b", "n", 9, new AbortController().signal);

  expect({ text, bytes }).toEqual({ text: "éééé", bytes: 9 });
  expect(sent).toBeLessThan(5);
});
