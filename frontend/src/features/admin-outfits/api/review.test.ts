// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";
import { forgetReasonsOfDecided } from "./review";
import { keepReason, outfitsWithReason } from "./unsaved-reasons";

afterEach(() => vi.unstubAllGlobals());

test("reasons of outfits that are not in the list are forgotten when those wait no longer, and not when that is unknown", async () => {
  keepReason(["a", "b"], "Blurred");
  keepReason(["c"], "Too dark");
  vi.stubGlobal("fetch", async () => Response.json({ message: "Too slow." }, { status: 500 }));
  await forgetReasonsOfDecided([]);
  expect(outfitsWithReason()).toEqual(["a", "b", "c"]);

  vi.stubGlobal("fetch", async () => Response.json([{ id: "b" }]));
  await forgetReasonsOfDecided([]);
  expect(outfitsWithReason()).toEqual(["b"]);
});
