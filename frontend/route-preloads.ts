// Vite plugin: lets the browser load the code of the page's route together with the entry script. Without it, the route's
// chunks would be requested only after the entry script has been loaded and run: one more round trip before the page works.

import type { Plugin } from "vite";

/** By the first segment of the path: the modules that the router imports for it. The last entry is for all other paths. */
const routeModules: [segment: string, modules: string[]][] = [
  ["", ["/layouts/explore/explore-layout.tsx", "/routes/explore/explore.tsx"]],
  ["auth", ["/routes/auth.tsx"]],
  ["discovery", ["/layouts/site-layout.tsx", "/routes/discovery/discovery.tsx"]],
  ["look", ["/layouts/site-layout.tsx", "/routes/look.tsx"]],
  ["product", ["/layouts/site-layout.tsx", "/routes/item.tsx"]],
  ["brands", ["/layouts/site-layout.tsx", "/routes/brand.tsx"]],
  ["profile", ["/layouts/site-layout.tsx", "/app/require-user.tsx"]],
  [
    "profile-settings",
    ["/layouts/site-layout.tsx", "/app/require-user.tsx", "/routes/profile/settings.tsx"],
  ],
  ["create-outfit", ["/layouts/site-layout.tsx"]],
  ["admin", []],
  ["*", ["/layouts/site-layout.tsx", "/routes/username.tsx"]],
];

/**
 * Paths whose first view is painted without these scripts (src/app/first-paint/): there the pictures come first, and the scripts are
 * requested when the pictures are there. Requested together, the scripts would take two thirds of a slow connection meanwhile.
 */
const paintedSegments = ["", "auth", "discovery", "look", "product"];

/** Name of the meta element that lists the scripts of a painted page. `first-paint.ts` requests them. */
const laterScripts = "page-scripts";

/** Where Vite's own tags begin: scripts, then the stylesheet. */
const firstTag = '<script type="module"';

/** Vite's tags for the entry and what it imports. An entry that only imports is left out, and the last of its imports runs the app. */
const entryTag = /<script type="module"[^>]* src="([^"]+)"/g;

/** The scripts that every page runs, in their order. */
export function entryScripts(html: string): string[] {
  return [...html.matchAll(entryTag)].flatMap(([, address]) => address ?? []);
}

/** What the plugin reads of a chunk in the bundle. */
interface Chunk {
  type: "chunk";
  fileName: string;
  facadeModuleId: string | null;
  moduleIds: string[];
  imports: string[];
  isEntry: boolean;
}

/** Adds an inline script to the page that preloads the chunks of the route named by the address, or notes them for later. */
export function preloadRoutes(): Plugin {
  return {
    name: "preload-routes",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler: (html, { bundle = {} }) => {
        const chunks = Object.values(bundle).filter((file) => file.type === "chunk") as Chunk[];
        const first = closure(
          chunks,
          chunks.filter(({ isEntry }) => isEntry),
        );
        const files = routeModules.map(([segment, modules]): [string, string[]] => {
          const roots = modules.map((module) => findChunk(chunks, module));
          const needed = [...closure(chunks, roots)].filter((chunk) => !first.has(chunk));
          return [segment, needed.map(({ fileName }) => `/${fileName}`)];
        });
        // Before the stylesheet, because an inline script waits for the stylesheets above it.
        const [before, ...after] = html.split(firstTag);
        if (after.length === 0) throw new Error(`index.html has no ${firstTag}.`);
        return `${before}<script>${script(entryScripts(html), files)}</script>\n    ${firstTag}${after.join(firstTag)}`;
      },
    },
  };
}

function findChunk(chunks: Chunk[], module: string): Chunk {
  const found = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module)));
  if (found === undefined)
    throw new Error(`route-preloads.ts names ${module}, which is in no chunk.`);
  return found;
}

/** These chunks with everything that they import statically. */
function closure(chunks: Chunk[], roots: Chunk[]): Set<Chunk> {
  const found = new Set<Chunk>();
  const waiting = [...roots];
  for (let chunk = waiting.pop(); chunk !== undefined; chunk = waiting.pop()) {
    if (found.has(chunk)) continue;
    found.add(chunk);
    const { imports } = chunk;
    waiting.push(...chunks.filter(({ fileName }) => imports.includes(fileName)));
  }
  return found;
}

function script(entries: string[], files: [string, string[]][]): string {
  const names = [...new Set([...entries, ...files.flatMap(([, list]) => list)])];
  const bySegment = Object.fromEntries(
    files.map(([segment, list]) => [segment, list.map((name) => names.indexOf(name))]),
  );
  return `{const n=${JSON.stringify(names)},r=${JSON.stringify(bySegment)},s=location.pathname.split("/")[1],f=[...n.slice(0,${entries.length}).keys(),...Object.hasOwn(r,s)?r[s]:r["*"]].map(i=>n[i]),a=(t,p)=>document.head.append(Object.assign(document.createElement(t),p));
if(${JSON.stringify(paintedSegments)}.includes(s)&&!location.search&&!location.hash)a("meta",{name:"${laterScripts}",content:f.join(" ")});
else for(const href of f)a("link",{rel:"modulepreload",href})}`;
}
