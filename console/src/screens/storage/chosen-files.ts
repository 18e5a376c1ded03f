/** Files and whole folders from a drop or a file input, each with its path below what was chosen. */
import type { ChosenFile } from "./upload-runner";

/** Files of an input; one that chose a folder names each file's path. */
export function filesOfInput(list: FileList | null): ChosenFile[] {
  return [...(list ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Files of a drop. Entries must be taken before the first pause, because the browser empties the list after the event. */
export async function filesOfDrop(transfer: DataTransfer): Promise<ChosenFile[]> {
  const entries = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found = await Promise.all(
    entries.map(({ entry, file }) => {
      if (entry !== null) return walkEntry(entry, "");
      return file === null ? [] : [{ file, path: file.name }];
    }),
  );
  return found.flat();
}

async function walkEntry(entry: FileSystemEntry, folder: string): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    return [{ file, path: `${folder}${file.name}` }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: ChosenFile[] = [];
  // A reader hands out a hundred entries at a time and ends with an empty list.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return found;
    for (const child of batch) {
      // One by one: the arguments of a function are limited, and a folder may hold more files.
      for (const file of await walkEntry(child, `${folder}${entry.name}/`)) found.push(file);
    }
  }
}
