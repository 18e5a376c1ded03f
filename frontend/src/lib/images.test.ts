import { describe, expect, it } from "vitest";
import { imageSources } from "./images";

describe("imageSources", () => {
  it("offers the second width for names of the seed only", () => {
    const url = "/storage/v1/object/public/combine-images/sunday-at-the-harbour.webp";
    expect(imageSources(url).src).toBe(url);
    expect(imageSources(url).srcSet).toBe(
      `${url.replace(".webp", "-480.webp")} 480w, ${url} 1200w`,
    );
    expect(imageSources("/storage/v1/object/public/images/items/scarf.webp").srcSet).toContain(
      "900w",
    );
  });

  it.each([
    "/storage/v1/object/public/combine-images/1730000000000-x7k2.webp",
    "/storage/v1/object/public/user-outfit-images/someone/coat.webp",
    "https://elsewhere.example/coat.webp",
  ])("loads %s as it is", (url) => {
    expect(imageSources(url)).toEqual({ src: url });
  });
});
