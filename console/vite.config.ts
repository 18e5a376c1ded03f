import { fileURLToPath, URL } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compressAssets } from "../ui/compress-assets.ts";
import { checkSizeBudget } from "./size-budget.ts";

/** A running console, to which the development server forwards `/api`. */
const server = process.env.SELVEDGE_CONSOLE_URL ?? "http://127.0.0.1:54323";

interface ModuleGraph {
  getModuleInfo: (id: string) => { isEntry: boolean; importers: string[] } | null;
}

/** Whether the entry imports a module, directly or through others, so that the shell cannot be drawn without it. */
function isOfShell(id: string, graph: ModuleGraph, seen = new Set<string>()): boolean {
  const module = graph.getModuleInfo(id);
  if (module === null || seen.has(id)) return false;
  seen.add(id);
  return module.isEntry || module.importers.some((importer) => isOfShell(importer, graph, seen));
}

export default defineConfig({
  plugins: [react(), tailwindcss(), checkSizeBudget(), compressAssets()],
  // The server writes a fresh nonce in the place of this text whenever it sends index.html, because the content security policy
  // allows style elements by nonce alone.
  html: { cspNonce: "__CSP_NONCE__" },
  resolve: {
    alias: {
      "@ui": fileURLToPath(new URL("../ui", import.meta.url)),
      "@": fileURLToPath(new URL("./src", import.meta.url)),
    },
    // The shared pieces in ../ui have no node_modules of their own.
    dedupe: ["react", "react-dom", "clsx", "lucide-react", "radix-ui"],
  },
  server: {
    port: 5174,
    proxy: {
      // The screen "API" is at /api.
      "/api/": {
        target: server,
        changeOrigin: true,
        // The console answers to its own origin alone.
        headers: { origin: server },
      },
    },
  },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Chromium then compiles a file's functions on another thread while the file arrives, and not one by one when they are called,
        // during which nothing is drawn. Other browsers ignore the comment. It counts on a file's first line alone, where Vite puts a list
        // of names in the entry and in screens that load others; with the comment above that list, no time became shorter.
        postBanner: "//# allFunctionsCalledOnLoad",
        codeSplitting: {
          // Few files: each costs a request, and a browser sends six at a time to one server.
          groups: [
            {
              name: "vendor",
              priority: 10,
              test: /node_modules\/(react|react-dom|scheduler|react-router|clsx|get-nonce|@tanstack\/(react-query|query-core))\//,
            },
            {
              // Menus, dialogs and long lists, which nearly every screen needs, and the shell only after its first paint.
              name: "controls",
              priority: 9,
              test: /node_modules\/(@radix-ui|radix-ui|@floating-ui|@tanstack\/(react-virtual|virtual-core)|aria-hidden|react-remove-scroll|react-remove-scroll-bar|react-style-singleton|use-callback-ref|use-sidecar|tslib)\//,
            },
            {
              name: "codemirror",
              priority: 8,
              test: /node_modules\/(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)\//,
            },
            {
              name: (id, context) => (isOfShell(id, context) ? "shell" : null),
              debugName: "shell",
              priority: 7,
            },
            {
              // What several screens need. The SQL editor is not among it, because it would bring CodeMirror to all of them.
              name: "shared",
              priority: 6,
              minShareCount: 2,
              test: (id) => !id.includes("/sql-editor/"),
            },
          ],
        },
      },
    },
    sourcemap: false,
    assetsInlineLimit: 0,
  },
  test: {
    environment: "jsdom",
    // Most of the time went into loading jsdom and the libraries once for each file (src/testing/setup.ts).
    pool: "threads",
    isolate: false,
    setupFiles: ["./src/testing/setup.ts"],
    css: false,
    testTimeout: 60_000,
    restoreMocks: true,
  },
});
