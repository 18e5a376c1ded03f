import { describe, expect, it } from "vitest";
import { imageSources, smallImage } from "./images";

describe("imageSources", () => {
  it.each([
    "combine-images/sunday-at-the-harbour.webp",
    "images/items/scarf.png",
    "user-outfit-images/someone/1730000000000-x7k2.JPG",
  ])("offers %s in the widths that storage renders", (path) => {
    const url = `/storage/v1/object/public/${path}`;
    const render = `/storage/v1/render/image/public/${path}`;
    expect(imageSources(url)).toEqual({
      src: url,
      srcSet: `${render}?width=480 480w, ${render}?width=1200 1200w`,
    });
    expect(smallImage(url)).toBe(`${render}?width=480`);
  });

  it.each([
    "/storage/v1/object/public/avatars/someone/me.avif",
    "/storage/v1/object/public/avatars/someone/me.webp?v=2",
    "/storage/v1/object/sign/profile-avatars/me.webp?token=x",
    "https://elsewhere.example/storage/v1/object/public/a/coat.webp",
  ])("loads %s as it is", (url) => {
    expect(imageSources(url)).toEqual({ src: url });
    expect(smallImage(url)).toBeUndefined();
  });
});
