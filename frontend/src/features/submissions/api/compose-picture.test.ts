import { afterEach, expect, test, vi } from "vitest";
import { composePicture, drawComposition } from "./compose-picture";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Images of this size that are decoded at once, and a canvas that draws nothing. */
function stubDrawing(naturalWidth: number, naturalHeight: number) {
  vi.stubGlobal(
    "Image",
    class {
      naturalWidth = naturalWidth;
      naturalHeight = naturalHeight;
      decode = async () => undefined;
    },
  );
  const getImageData = vi.fn((_x: number, _y: number, width: number, height: number) => ({
    data: new Uint8ClampedArray(width * height * 4),
  }));
  const context = new Proxy(
    { getImageData },
    { get: (own, name) => Reflect.get(own, name) ?? (() => undefined) },
  );
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(context as never);
  return getImageData;
}

test("a large picture is scaled down before its background is looked for, once for all arrangements", async () => {
  const getImageData = stubDrawing(4000, 3000);
  const items = [{ id: "1", name: "Coat", image: "https://elsewhere.test/coat.jpg" }];

  await drawComposition(document.createElement("canvas"), items, {
    arrangement: "laid",
    moved: {},
  });
  await drawComposition(document.createElement("canvas"), items, {
    arrangement: "worn",
    moved: {},
  });

  expect(getImageData.mock.calls).toEqual([[0, 0, 1200, 900]]);
});

test("the file has at most 250 kB", async () => {
  stubDrawing(40, 50);
  const qualities: unknown[] = [];
  vi.spyOn(HTMLCanvasElement.prototype, "toBlob").mockImplementation((done, type, quality) => {
    qualities.push(quality);
    const bytes = qualities.length < 3 ? 250_001 : 250_000;
    done(new Blob([new Uint8Array(bytes)], { type: type ?? "" }));
  });

  const file = await composePicture([{ id: "1", name: "Coat", image: "/coat.webp" }], {
    arrangement: "laid",
    moved: {},
  });

  expect(file.size).toBe(250_000);
  expect(qualities).toEqual([0.86, 0.74, 0.6]);
});
