// Most files of tests need a document. Those that begin with `@vitest-environment node` do without, and start in a third of the time.
if (typeof document !== "undefined") {
  await import("./dom-setup");
}

export {};
