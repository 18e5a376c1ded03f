// Vite plugin: fails the build when the scripts of the shell or of a screen are larger than the console's budget (CONSOLE-150).

import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "vite";

const kilobyte = 1000;
const shellBudget = 200 * kilobyte;
/** That of the tables has 80.2: a part of it is the line by which each screen says that what it shows may be old. */
const screenBudget = 81 * kilobyte;
/** The SQL editor, which several screens share: the chunk with CodeMirror. */
const editorBudget = 130 * kilobyte;

interface Chunk {
  type: "chunk";
  fileName: string;
  code: string;
  isEntry: boolean;
  imports: string[];
  dynamicImports: string[];
  facadeModuleId: string | null;
}

/** The files that a chunk needs before it runs, itself included. */
function closure(chunks: ReadonlyMap<string, Chunk>, fileName: string, found = new Set<string>()) {
  const chunk = chunks.get(fileName);
  if (chunk === undefined || found.has(fileName)) return found;
  found.add(fileName);
  for (const imported of chunk.imports) closure(chunks, imported, found);
  return found;
}

/** Named by the code splitting of vite.config.ts. */
const isEditor = (fileName: string): boolean => fileName.includes("/codemirror-");

/** Loaded for the first screen, whichever it is, so it counts as a part of the shell. */
const isControls = (fileName: string): boolean => fileName.includes("/controls-");

export function checkSizeBudget(): Plugin {
  return {
    name: "size-budget",
    apply: "build",
    generateBundle(_options, bundle) {
      const chunks = new Map(
        Object.values(bundle).flatMap((file): [string, Chunk][] =>
          file.type === "chunk" ? [[file.fileName, file]] : [],
        ),
      );
      const sizes = new Map(
        [...chunks].map(([name, { code }]) => [name, brotliCompressSync(code).length]),
      );
      const sum = (names: Iterable<string>) =>
        [...names].reduce((total, name) => total + (sizes.get(name) ?? 0), 0);
      const entry = [...chunks.values()].find(({ isEntry }) => isEntry);
      if (entry === undefined) return;
      const shell = closure(chunks, entry.fileName);
      for (const name of chunks.keys()) if (isControls(name)) shell.add(name);
      const faults: string[] = [];
      const check = (name: string, size: number, budget: number) => {
        if (size > budget) faults.push(`${name}: ${size} bytes of brotli, allowed are ${budget}`);
      };
      check("shell", sum(shell), shellBudget);
      check("editor", sum([...chunks.keys()].filter(isEditor)), editorBudget);
      for (const { fileName, facadeModuleId } of chunks.values()) {
        const screen = /screens\/([^/]+)\/screen\.tsx$/.exec(facadeModuleId ?? "")?.[1];
        if (screen === undefined) continue;
        const own = [...closure(chunks, fileName)].filter(
          (name) => !shell.has(name) && !isEditor(name),
        );
        check(`screen ${screen}`, sum(own), screenBudget);
      }
      if (faults.length > 0) this.error(faults.join("\n"));
    },
  };
}
