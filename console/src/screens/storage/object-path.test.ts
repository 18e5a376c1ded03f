// @vitest-environment node
import { describe, expect, test } from "vitest";
import {
  breadcrumbsOf,
  encodePath,
  findFreeName,
  findNameFault,
  lastPartOf,
  parentOf,
  parseFolder,
  previewKindOf,
  storableName,
} from "./object-path";

describe("CONSOLE-120 paths of objects", () => {
  test("names and folders have a parent and a last part", () => {
    expect([parentOf("a/b/c.png"), lastPartOf("a/b/c.png")]).toEqual(["a/b/", "c.png"]);
    expect([parentOf("a/b/"), lastPartOf("a/b/")]).toEqual(["a/", "b"]);
    expect([parentOf("c.png"), parentOf("a/")]).toEqual(["", ""]);
  });

  test("a folder in the address may have slashes anywhere", () => {
    expect([parseFolder("/a/b"), parseFolder("a/b/"), parseFolder(null), parseFolder("/")]).toEqual(
      ["a/b/", "a/b/", "", ""],
    );
    expect(breadcrumbsOf("a/b/")).toEqual([
      { name: "a", path: "a/" },
      { name: "b", path: "a/b/" },
    ]);
  });

  test("a free name keeps the folder and the extension", () => {
    const taken = new Set(["a.b/photo (1).png"]);
    const isTaken = (name: string) => taken.has(name);

    expect(findFreeName("a.b/photo.png", isTaken)).toBe("a.b/photo (2).png");
    expect(findFreeName("a.b/README", isTaken)).toBe("a.b/README (1)");
    expect(findFreeName(".env", isTaken)).toBe(".env (1)");
  });
});

describe("CONSOLE-166 names that the service refuses", () => {
  test("the sign that is at fault is named", () => {
    expect(findNameFault("photos/é.png")).toContain("“é”");
    expect(findNameFault("a/../b")).toContain("..");
    expect(findNameFault(" ")).toBe("Enter a name.");
    expect(findNameFault("a..b/c d.png")).toBeNull();
    expect(findNameFault("x".repeat(1025))).toContain("1024");
  });

  test("files with other names are stored under plain ones", () => {
    expect(storableName("Übersicht #1/naïve.txt")).toBe("Ubersicht _1/naive.txt");
    expect(storableName("../日本.png")).toBe("_/__.png");
  });

  test("names are encoded part by part", () => {
    expect(encodePath("a b/c?d.png")).toBe("a%20b/c%3Fd.png");
  });
});

describe("CONSOLE-164 previews", () => {
  test.each([
    ["a.png", "image/png", "image"],
    ["a.svg", "image/svg+xml", "image"],
    ["a.html", "text/html", "text"],
    ["a.json", "application/json", "text"],
    ["a.pdf", "application/pdf", "pdf"],
    ["a.mp3", "audio/mpeg", "audio"],
    ["a.mp4", "video/mp4", "video"],
    ["a.zip", "application/zip", "none"],
    ["query.sql", "application/octet-stream", "text"],
    ["a", null, "none"],
  ])("%s of type %s is shown as %s", (name, type, kind) => {
    expect(previewKindOf(name, type)).toBe(kind);
  });
});
