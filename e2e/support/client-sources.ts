// What a client library can ask of a server, read from its TypeScript source: options, methods, and names of headers.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the libraries are that the tests use. `tools/newest-clients` names another folder. */
const modules = process.env.SELVEDGE_CLIENTS ?? join(import.meta.dirname, "../node_modules");

/** `leftOut` are beginnings of paths below `src` that belong to others, such as a library that was copied. */
interface Package {
  name: string;
  leftOut: string[];
}

/** By the names in the first column of the table. `supabase` is the package around the others, whose options it passes on. */
export const packages: Record<string, Package> = {
  supabase: { name: "supabase-js", leftOut: [] },
  auth: { name: "auth-js", leftOut: [] },
  storage: { name: "storage-js", leftOut: [] },
  realtime: { name: "realtime-js", leftOut: ["phoenix"] },
  functions: { name: "functions-js", leftOut: ["edge-runtime.d.ts"] },
  postgrest: { name: "postgrest-js", leftOut: [] },
};

/** Statements and members of every class, which look like methods. */
const noMethods = ["catch", "constructor", "for", "if", "return", "switch", "while", "toJSON"];

/** Names of optional members and parameters: options, and what may be absent in answers. */
export function listOptions(service: string): Set<string> {
  return findNames(service, /(?:^\s*(?:readonly )?|[{(,;] *)([A-Za-z_]\w*)\?:/gm);
}

/** Names of public methods and getters of classes, and of methods of interfaces. */
export function listMethods(service: string): Set<string> {
  const declared = /^ {2}(?:(?:public|async|override|static|get) )*([a-z]\w*)[<(]/gm;
  const names = findNames(service, declared);
  for (const name of noMethods) {
    names.delete(name);
  }
  return names;
}

/** Names of headers that a library sends or reads, in lower case: texts that can be nothing else, or that stand where headers are set. */
export function listHeaders(service: string): Set<string> {
  const known =
    /['"`](x-[\w-]+|accept[a-z-]*|content-[\w-]+|cache-control|prefer|range|apikey|authorization|retry-after|if-[\w-]+)['"`]/gi;
  const used = /headers\??\.(?:set|append|get|has|delete)\(\s*['"`]([\w-]+)['"`]/gi;
  const names = [...findNames(service, known), ...findNames(service, used)];
  return new Set(names.map((name) => name.toLowerCase()));
}

function findNames(service: string, pattern: RegExp): Set<string> {
  const { name, leftOut } = packages[service] as Package;
  const folder = join(modules, "@supabase", name, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !leftOut.some((part) => file.startsWith(part)),
  );
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8").replace(
      /^\s*(?:\/\/|\*|\/\*\*).*$/gm,
      "",
    );
    for (const match of text.matchAll(pattern)) {
      names.add(match[1] as string);
    }
  }
  return names;
}
