/** The rows of a folder's list: folders first, in the service's order, then files. */
import type { ObjectPage } from "./api";
import { lastPartOf, type PreviewKind, previewKindOf } from "./object-path";

export interface ObjectRow {
  /** Whole name; that of a folder ends with a slash. */
  name: string;
  label: string;
  isFolder: boolean;
  size: number | null;
  type: string | null;
  kind: PreviewKind;
  changedAt: string | null;
}

/** The placeholder with which the dashboard and the console keep an empty folder. */
export const placeholderName = ".emptyFolderPlaceholder";

export function readObjectRows(pages: readonly ObjectPage[]): ObjectRow[] {
  const folders = new Map<string, ObjectRow>();
  const files: ObjectRow[] = [];
  for (const page of pages) {
    for (const { name } of page.folders) folders.set(name, folderRow(name));
    for (const object of page.objects) {
      if (lastPartOf(object.name) === placeholderName) continue;
      const type = object.metadata?.mimetype ?? null;
      files.push({
        name: object.name,
        label: lastPartOf(object.name),
        isFolder: false,
        size: object.metadata?.size ?? null,
        type,
        kind: previewKindOf(object.name, type),
        changedAt: object.updated_at,
      });
    }
  }
  return [...folders.values(), ...files];
}

function folderRow(name: string): ObjectRow {
  return {
    name,
    label: lastPartOf(name),
    isFolder: true,
    size: null,
    type: null,
    kind: "none",
    changedAt: null,
  };
}
