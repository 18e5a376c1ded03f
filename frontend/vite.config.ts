import { fileURLToPath, URL } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";
import { compressAssets } from "../ui/compress-assets.ts";
import { inlineFirstPaint } from "./inline-first-paint.ts";
import { preloadRoutes } from "./route-preloads.ts";
import { subsetFonts } from "./subset-fonts.ts";

/** URL prefixes of the services. The development server forwards them to a running Selvedge. */
const servicePrefixes = ["/auth/v1", "/rest/v1", "/storage/v1", "/realtime/v1", "/functions/v1"];
const server = process.env.SELVEDGE_URL ?? "http://127.0.0.1:54321";
const proxy = Object.fromEntries(
  servicePrefixes.map((prefix) => [prefix, { target: server, ws: prefix === "/realtime/v1" }]),
);

/** Fonts of every first screen. Preloaded, because a browser would request them only after parsing the stylesheet. */
const preloadedFonts =
  /(instrument-serif-latin-400-normal|geist-latin-wght-normal)-(?!.*accents)[^/]*\.woff2$/;

function preloadFonts(): Plugin {
  return {
    name: "preload-fonts",
    transformIndexHtml: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => preloadedFonts.test(file))
        .map((file) => ({
          tag: "link",
          injectTo: "head",
          attrs: {
            rel: "preload",
            as: "font",
            type: "font/woff2",
            crossorigin: "",
            href: `/${file}`,
          },
        })),
  };
}

interface ModuleGraph {
  getModuleInfo: (id: string) => { importers: readonly string[]; isEntry: boolean } | null;
}

/** Where first loads begin: the entry, the sign-in page, the dashboard, the layout of all other pages, and those pages. */
const roots = {
  main: "/src/main.tsx",
  auth: "/src/app/routes/auth.tsx",
  explore: "/src/app/layouts/explore/explore-layout.tsx",
  exploreIndex: "/src/app/routes/explore/explore.tsx",
  site: "/src/app/layouts/site-layout.tsx",
  outfit: "/src/app/routes/look.tsx",
  item: "/src/app/routes/item.tsx",
  brand: "/src/app/routes/brand.tsx",
  creator: "/src/app/routes/username.tsx",
  discovery: "/src/app/routes/discovery/discovery.tsx",
};

const sharedGroups = ["main", "basics", "shared", "lists", "explore", "subject"] as const;

/** The chunk that a module shared by first loads belongs to; null leaves it to the bundler. */
function groupOf(id: string, modules: ModuleGraph): (typeof sharedGroups)[number] | null {
  const importers = findImporters(id, modules);
  const isIn = (root: keyof typeof roots) =>
    [...importers].some((importer) => importer.endsWith(roots[root]));
  if (isIn("main")) return "main";
  const inExplore = isIn("explore") || isIn("exploreIndex");
  const inSite = isIn("site") || isIn("outfit");
  if (isIn("auth")) return inExplore || inSite ? "basics" : null;
  const hasList = isIn("item") || isIn("brand") || isIn("creator") || isIn("discovery");
  if (inExplore && inSite) return "shared";
  if (inExplore) return hasList ? "lists" : "explore";
  return isIn("outfit") && isIn("item") ? "subject" : null;
}

/** The module and all that import it, directly or through others, without a dynamic import in between. */
function findImporters(id: string, modules: ModuleGraph, found = new Set<string>()): Set<string> {
  found.add(id);
  for (const importer of modules.getModuleInfo(id)?.importers ?? []) {
    if (!found.has(importer)) findImporters(importer, modules, found);
  }
  return found;
}

/** React Router's package offers its production files to no bundler; they are without the warnings for developers. */
function productionRouter(): Plugin {
  const folder = fileURLToPath(
    new URL("./node_modules/react-router/dist/production", import.meta.url),
  );
  return {
    name: "production-router",
    apply: "build",
    config: () => ({
      resolve: {
        alias: [{ find: /^react-router$/, replacement: `${folder}/index.mjs` }],
      },
    }),
  };
}

export default defineConfig({
  plugins: [
    react(),
    tailwindcss(),
    productionRouter(),
    preloadFonts(),
    preloadRoutes(),
    inlineFirstPaint(),
    subsetFonts(),
    compressAssets(),
  ],
  resolve: {
    alias: {
      "@ui": fileURLToPath(new URL("../ui", import.meta.url)),
      "@": fileURLToPath(new URL("./src", import.meta.url)),
    },
    // The pieces shared with the console, in ../ui, have no node_modules of their own.
    dedupe: ["react", "react-dom", "clsx", "lucide-react", "radix-ui"],
  },
  server: { port: 5173, proxy },
  preview: { port: 4173, proxy },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Needed by every page and changed only by upgrades, so a file of its own stays cached across releases.
            {
              name: "vendor",
              priority: 9,
              test: /node_modules\/(react|react-dom|scheduler|react-router|clsx|@tanstack|@supabase\/postgrest-js)\//,
            },
            // Small files compress worse than one, so modules that several pages share are grouped by who needs them. A group
            // takes the dependencies of its modules along, hence the order: what most pages need comes first.
            ...sharedGroups.map((name, index) => ({
              name: (id: string, modules: ModuleGraph) =>
                groupOf(id, modules) === name ? name : null,
              debugName: name,
              priority: sharedGroups.length - index,
            })),
          ],
        },
      },
    },
    sourcemap: false,
    reportCompressedSize: true,
    // Fonts are never inlined, because that would enlarge the render-blocking stylesheet.
    assetsInlineLimit: (file) => !file.endsWith(".woff2") && undefined,
  },
  test: {
    environment: "jsdom",
    // Most of the time went into loading jsdom and the libraries once for each file (src/testing/setup.ts).
    pool: "threads",
    isolate: false,
    setupFiles: ["./src/testing/setup.ts"],
    css: false,
    testTimeout: 60_000,
    env: { VITE_SUPABASE_KEY: "unit-tests" },
    restoreMocks: true,
  },
});
