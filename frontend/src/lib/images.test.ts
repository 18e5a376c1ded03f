import { describe, expect, it } from "vitest";
import { imageSources } from "./images";

describe("imageSources", () => {
  it.each([
    "combine-images/sunday-at-the-harbour.webp",
    "images/items/scarf.png",
    "user-outfit-images/someone/1730000000000-x7k2.JPG",
  ])("offers %s in the rendered widths, none wider than the source", (path) => {
    const url = `/storage/v1/object/public/${path}`;
    const render = `/storage/v1/render/image/public/${path}`;
    expect(imageSources(url, 900)).toEqual({
      src: url,
      srcSet: [240, 480, 720, 900].map((width) => `${render}?width=${width} ${width}w`).join(", "),
    });
  });

  it.each([
    "/storage/v1/object/public/avatars/someone/me.avif",
    "/storage/v1/object/public/avatars/someone/me.webp?v=2",
    "/storage/v1/object/sign/profile-avatars/me.webp?token=x",
    "https://elsewhere.example/storage/v1/object/public/a/coat.webp",
  ])("loads %s without rendering", (url) => {
    expect(imageSources(url, 1200)).toEqual({ src: url });
  });
});
