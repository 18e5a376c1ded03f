// @vitest-environment node
import { expect, test } from "vitest";
import type { ObjectPage } from "./api";
import { readObjectRows } from "./object-rows";

const times = { created_at: null, updated_at: "2026-01-01T00:00:00Z" };

test("CONSOLE-122 folders stand first, once, and the placeholder of an empty folder is hidden", () => {
  const pages: ObjectPage[] = [
    {
      hasNext: true,
      folders: [{ name: "a/b/" }],
      objects: [
        { id: "1", name: "a/.emptyFolderPlaceholder", metadata: null, ...times },
        { id: "2", name: "a/x.png", metadata: { size: 5, mimetype: "image/png" }, ...times },
      ],
    },
    { hasNext: false, folders: [{ name: "a/b/" }, { name: "a/c/" }], objects: [] },
  ];

  const rows = readObjectRows(pages);

  expect(rows.map(({ label, isFolder }) => [label, isFolder])).toEqual([
    ["b", true],
    ["c", true],
    ["x.png", false],
  ]);
  expect(rows[2]).toMatchObject({ size: 5, kind: "image", name: "a/x.png" });
});
