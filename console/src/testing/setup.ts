import { endWithFile } from "@ui/test-leftovers";
import { afterAll, vi } from "vitest";

// Files share a worker, which has loaded the libraries and jsdom once. Our own modules are loaded anew for each file, because some of
// them keep something: sessions, notices, drafts.
vi.resetModules();
endWithFile(afterAll);

// Most files of tests need a document. Those that begin with `@vitest-environment node` do without.
if (typeof document !== "undefined") await import("./dom-setup");
