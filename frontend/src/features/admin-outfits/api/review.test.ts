// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";
import { forgetReasonsOfDecided } from "./review";
import { keepReason, outfitsWithReason, readReason } from "./unsaved-reasons";

afterEach(() => vi.unstubAllGlobals());

test("reasons of outfits that are not in the list are forgotten when those wait no longer, and not when that is unknown", async () => {
  keepReason(["a", "b"], "Blurred");
  keepReason(["c"], "Too dark");
  vi.stubGlobal("fetch", async () => Response.json({ message: "Too slow." }, { status: 500 }));
  await forgetReasonsOfDecided([]);
  expect(outfitsWithReason()).toEqual(["a", "b", "c"]);

  vi.stubGlobal("fetch", async () => Response.json([{ id: "b", status: "pending" }]));
  await forgetReasonsOfDecided([]);
  expect(outfitsWithReason()).toEqual(["b"]);
});

test("a reason is forgotten when a colleague has approved the outfit, and one for taking it offline stays", async () => {
  keepReason(["b"], "");
  keepReason(["a", "b"], "");
  keepReason(["d"], "Blurred");
  keepReason(["e"], "Too dark");
  keepReason(["e"], "Too like another", true);
  vi.stubGlobal("fetch", async () =>
    Response.json([
      { id: "d", status: "approved" },
      { id: "e", status: "approved" },
    ]),
  );
  await forgetReasonsOfDecided([]);

  expect([readReason(["d"]), readReason(["d"], true)]).toEqual(["", ""]);
  expect([readReason(["e"]), readReason(["e"], true)]).toEqual(["", "Too like another"]);
  // It is offline by now, and waits once more.
  vi.stubGlobal("fetch", async () => Response.json([{ id: "e", status: "pending" }]));
  await forgetReasonsOfDecided([]);
  expect(outfitsWithReason()).toEqual([]);
});
