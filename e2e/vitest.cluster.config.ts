// The cluster's tests run separately, by cluster/run: they need namespaces, and no Lookbook server.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["cluster/**/*.test.ts"],
    reporters: ["verbose"],
    // Shows the table of the run, but not the stock client's messages about failed requests.
    onConsoleLog: (_, type) => type === "stdout",
    hookTimeout: 300_000,
    // Each test begins with what the one before has left.
    bail: 1,
  },
});
