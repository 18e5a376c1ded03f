// Finds the program for this platform. npm installs the optional dependency `@selvedge/<platform>` whose `os`, `cpu` and `libc`
// match the machine.

import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** The platforms that have a package, by npm's names; tools/package.py builds the packages. */
const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];

/**
 * Returns the path of the program.
 *
 * @throws when this platform has no package, or its package is not installed; the message says what to do.
 */
export function binaryPath(): string {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.includes(platform)) {
    throw new Error(describeUnsupported(platform));
  }
  try {
    return require.resolve(`@selvedge/${platform}/bin/selvedge`);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") {
      throw new Error(
        hasMusl() ? describeUnsupported(`${platform} with musl`) : describeMissing(platform),
      );
    }
    throw error;
  }
}

/** Whether this is a Linux without glibc, such as Alpine. */
function hasMusl(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return process.platform === "linux" && header.glibcVersionRuntime === undefined;
}

function describeUnsupported(platform: string): string {
  return `Selvedge has no package for ${platform}. It runs on macOS and on Linux with glibc 2.34 or newer, on x64 and arm64.
  - On Windows, use it in WSL 2.
  - Instead of Alpine, use an image with glibc, such as node:22-slim.`;
}

function describeMissing(platform: string): string {
  const { version } = require("../package.json") as { version: string };
  return `The package @selvedge/${platform} is not installed, which holds the program for this machine.
npm leaves it out with --omit=optional and --no-optional, and node_modules lacks it when it was installed on another platform.
  - Install again, on this machine and with optional dependencies: npm install --include=optional
  - Or name the package yourself: npm install --save-dev @selvedge/${platform}@${version}`;
}
