/** The rows of a folder's list: folders first, in the service's order, then files. */
import type { ObjectPage, StoredObject } from "./api";
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
  for (const page of pages) {
    for (const { name } of page.folders) folders.set(name, folderRow(name));
  }
  return [...folders.values(), ...pages.flatMap(filesOf)];
}

/** The files of pages that have been read already, so that one more page of a long list does not read all others again. */
const knownFiles = new WeakMap<ObjectPage, readonly ObjectRow[]>();

function filesOf(page: ObjectPage): readonly ObjectRow[] {
  const known = knownFiles.get(page);
  if (known !== undefined) return known;
  const files = page.objects
    .filter(({ name }) => lastPartOf(name) !== placeholderName)
    .map(fileRow);
  knownFiles.set(page, files);
  return files;
}

function fileRow(object: StoredObject): ObjectRow {
  const type = object.metadata?.mimetype ?? null;
  return {
    name: object.name,
    label: lastPartOf(object.name),
    isFolder: false,
    size: object.metadata?.size ?? null,
    type,
    kind: previewKindOf(object.name, type),
    changedAt: object.updated_at,
  };
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
