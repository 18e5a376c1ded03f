// Vite plugin: lets the browser load the code of the page's route together with the entry script. Without it, the route's
// chunks would be requested only after the entry script has been loaded and run: one more round trip before the page works.

import type { Plugin } from "vite";

interface RouteModules {
  /** The path without its first slash, or its first segment; `*` is for all other paths. */
  path: string;
  /** The modules that the router imports for it. */
  modules: string[];
  /** Those that it imports only when somebody is signed in: visitors are sent to the sign-in page instead. */
  privateModules?: string[];
}

const siteLayout = "/layouts/site-layout.tsx";
const userPage = [siteLayout, "/app/require-user.tsx"];
const settings = ["/routes/profile/settings.tsx"];

const routeModules: RouteModules[] = [
  { path: "", modules: ["/layouts/explore/explore-layout.tsx", "/routes/explore/explore.tsx"] },
  { path: "auth", modules: ["/routes/auth.tsx"] },
  { path: "discovery", modules: [siteLayout, "/routes/discovery/discovery.tsx"] },
  { path: "look", modules: [siteLayout, "/routes/look.tsx"] },
  { path: "product", modules: [siteLayout, "/routes/item.tsx"] },
  { path: "brands", modules: [siteLayout, "/routes/brand.tsx"] },
  { path: "collections", modules: [siteLayout, "/routes/collection.tsx"] },
  { path: "profile", modules: userPage, privateModules: ["/routes/profile/my-profile.tsx"] },
  { path: "profile/edit", modules: userPage, privateModules: settings },
  { path: "profile-settings", modules: userPage, privateModules: settings },
  {
    path: "create-outfit",
    modules: userPage,
    privateModules: ["/routes/create-outfit/create-outfit.tsx"],
  },
  { path: "notifications", modules: userPage, privateModules: ["/app/routes/notifications.tsx"] },
  { path: "welcome", modules: userPage, privateModules: ["/routes/welcome.tsx"] },
  { path: "admin", modules: [] },
  { path: "*", modules: [siteLayout, "/routes/username.tsx"] },
];

/** The auth client of supabase-js and its requests, which every page of a signed-in person loads before it asks for anything of theirs. */
const authClient = "/src/lib/user-requests.ts";

/**
 * Paths whose first view is painted without these scripts (src/app/first-paint/): there the pictures come first, and the scripts are
 * requested when the pictures are there. Requested together, the scripts would take two thirds of a slow connection meanwhile.
 */
const paintedSegments = ["", "auth", "discovery", "look", "product"];

/** Those that are painted for signed-in people only: visitors are sent on to the sign-in page. */
const privatePaintedSegments = ["profile", "profile-settings", "create-outfit", "notifications"];

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
        const filesOf = (modules: string[]) => {
          const roots = modules.map((module) => findChunk(chunks, module));
          const needed = [...closure(chunks, roots)].filter((chunk) => !first.has(chunk));
          return needed.map(({ fileName }) => `/${fileName}`);
        };
        const files = routeModules.map(({ path, modules, privateModules = [] }): RouteFiles => {
          const forAll = filesOf(modules);
          const signedIn = filesOf([authClient, ...privateModules]);
          return { path, forAll, signedIn: signedIn.filter((name) => !forAll.includes(name)) };
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

interface RouteFiles {
  path: string;
  forAll: string[];
  signedIn: string[];
}

/**
 * The inline script. `r` has the files of each path, those for everybody first; `w` says whether a session is stored, under the
 * key of supabase-js. A browser may refuse access to its storage.
 */
function script(entries: string[], files: RouteFiles[]): string {
  const all = files.flatMap(({ forAll, signedIn }) => [...forAll, ...signedIn]);
  const names = [...new Set([...entries, ...all])];
  const indices = (list: string[]) => list.map((name) => names.indexOf(name));
  const byPath = Object.fromEntries(
    files.map(({ path, forAll, signedIn }) => [path, [indices(forAll), indices(signedIn)]]),
  );
  return `{const n=${JSON.stringify(names)},r=${JSON.stringify(byPath)},p=location.pathname.slice(1),s=p.split("/")[0];let w=!1;try{w=Object.keys(localStorage).some(k=>/^sb-.+-auth-token$/.test(k))}catch{}
const[e,g]=r[[p,s].find(k=>Object.hasOwn(r,k))??"*"],f=[...n.slice(0,${entries.length}).keys(),...e,...w?g:[]].map(i=>n[i]),a=(t,p)=>document.head.append(Object.assign(document.createElement(t),p));
if([...${JSON.stringify(paintedSegments)},...w?${JSON.stringify(privatePaintedSegments)}:[]].includes(s)&&!location.search&&!location.hash)a("meta",{name:"${laterScripts}",content:f.join(" ")});
else for(const href of f)a("link",{rel:"modulepreload",href})}`;
}
