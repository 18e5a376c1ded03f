// The cluster's tests run apart from the others, by cluster/run: they need namespaces, and no server of Lookbook.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["cluster/**/*.test.ts"],
    reporters: ["verbose"],
    // The table of the run, and not what the stock client says about each request that fails.
    onConsoleLog: (_, type) => type === "stdout",
    hookTimeout: 300_000,
  },
});
