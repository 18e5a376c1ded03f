import { fileURLToPath, URL } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The services' URL prefixes: in development they are forwarded to a running server. */
const servicePrefixes = ["/auth/v1", "/rest/v1", "/storage/v1", "/realtime/v1", "/functions/v1"];
const server = process.env.SELVEDGE_URL ?? "http://127.0.0.1:54321";
const proxy = Object.fromEntries(
  servicePrefixes.map((prefix) => [prefix, { target: server, ws: prefix === "/realtime/v1" }]),
);

/** Fonts that every page shows at once: asked for together with the stylesheet, not after it. */
const firstFonts = /(instrument-serif-latin-400-normal|geist-latin-wght-normal)[^/]*\.woff2$/;

function preloadFonts(): Plugin {
  return {
    name: "preload-fonts",
    transformIndexHtml: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => firstFonts.test(file))
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

export default defineConfig({
  plugins: [react(), tailwindcss(), preloadFonts()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { port: 5173, proxy },
  preview: { port: 4173, proxy },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Needed by every page, and changed by upgrades only: one file that stays cached.
            {
              name: "vendor",
              test: /node_modules\/(react|react-dom|scheduler|react-router|clsx|@tanstack|@supabase)\//,
            },
          ],
        },
      },
    },
    sourcemap: false,
    reportCompressedSize: true,
    // Fonts stay files: inlined ones would sit in the render-blocking stylesheet.
    assetsInlineLimit: (file) => !file.endsWith(".woff2") && undefined,
  },
  test: {
    environment: "jsdom",
    setupFiles: ["./src/testing/setup.ts"],
    css: false,
    testTimeout: 20_000,
    env: { VITE_SUPABASE_KEY: "unit-tests" },
    restoreMocks: true,
  },
});
