// Vite plugin: writes the script that paints the first view (src/app/first-paint/) into index.html. It runs before all other
// scripts, and starts the app when the view has been painted. What only signed-in people need of it is a file of its own, because
// visitors would load it with every page.

import { createHash } from "node:crypto";

import { fileURLToPath } from "node:url";
import { build, type Plugin, type ResolvedConfig } from "vite";
import { entryScripts } from "./route-preloads.ts";

const source = fileURLToPath(new URL("./src/app/first-paint/first-paint.ts", import.meta.url));

/** The scripts that paint the pages of signed-in people, in the order in which `first-paint.ts` expects their addresses. */
const userSources = ["paint-user-page", "paint-wizard-page"];

const entryTags = /\s*<script type="module"[^>]* src="[^"]+"><\/script>/g;

const rootElement = '<div id="root"></div>';

/** Without what only programmers read: every visit pays for it. */
const withoutNotes = (html: string): string =>
  html.replace(/<!--.*?-->/gs, "").replace(/\n\s+/g, "\n");

/** To be listed after `preloadRoutes()`, which has the browser load the entry without running it. */
export function inlineFirstPaint(): Plugin {
  let config: ResolvedConfig;
  let userScripts: string[] = [];
  return {
    name: "inline-first-paint",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    async renderStart() {
      userScripts = [];
      for (const name of userSources) {
        const path = fileURLToPath(new URL(`./src/app/first-paint/${name}.ts`, import.meta.url));
        const code = await bundleScript(config, path, "es");
        const hash = createHash("sha256").update(code).digest("hex").slice(0, 8);
        const fileName = `assets/${name}-${hash}.js`;
        this.emitFile({ type: "asset", fileName, source: code });
        userScripts.push(`/${fileName}`);
      }
    },
    transformIndexHtml: {
      order: "post",
      async handler(html) {
        const scripts = entryScripts(html);
        if (scripts.length === 0 || !html.includes(rootElement)) {
          throw new Error(`index.html has no entry script or no ${rootElement}.`);
        }
        const code = await bundleScript(config, source, "iife");
        return withoutNotes(html)
          .replace(entryTags, "")
          .replace(
            "</title>",
            `</title>\n    <meta name="app-scripts" content="${scripts.join(" ")}" />\n    <meta name="user-view-scripts" content="${userScripts.join(" ")}" />`,
          )
          .replace(rootElement, () => `${rootElement}\n    <script>${code}</script>`);
      },
    },
  };
}

/** The script with everything that it imports, in one piece. */
async function bundleScript(
  { root, mode, resolve }: ResolvedConfig,
  input: string,
  format: "iife" | "es",
): Promise<string> {
  const result = await build({
    root,
    mode,
    configFile: false,
    logLevel: "warn",
    resolve: { alias: resolve.alias },
    build: {
      write: false,
      target: "es2022",
      copyPublicDir: false,
      modulePreload: false,
      rolldownOptions: { input, output: { format }, preserveEntrySignatures: "strict" },
    },
  });
  const outputs = (Array.isArray(result) ? result : [result]).flatMap((part) =>
    "output" in part ? part.output : [],
  );
  const chunks = outputs.filter((file) => file.type === "chunk");
  const code = chunks[0]?.code.trim();
  if (chunks.length !== 1 || code === undefined || code.includes("</script")) {
    throw new Error("The script of the first view must be one chunk without a closing tag.");
  }
  return code;
}
