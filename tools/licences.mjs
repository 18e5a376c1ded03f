// Checks that the licence of every crate in the build is on the list below. `cargo metadata` gives the licences.

import { execFileSync } from "node:child_process";

const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BSL-1.0",
  "CC0-1.0",
  "CDLA-Permissive-2.0",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "NCSA",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

/** Whether an SPDX expression can be met with allowed licences alone. */
function isAllowed(expression) {
  const tokens = expression.replaceAll("/", " OR ").match(/\(|\)|[^()\s]+/g) ?? [];
  let position = 0;

  function any() {
    let met = all();
    while (tokens[position] === "OR") {
      position += 1;
      met = all() || met;
    }
    return met;
  }
  function all() {
    let met = single();
    while (tokens[position] === "AND") {
      position += 1;
      met = single() && met;
    }
    return met;
  }
  function single() {
    if (tokens[position] === "(") {
      position += 1;
      const met = any();
      position += 1;
      return met;
    }
    let name = tokens[position];
    position += 1;
    if (tokens[position] === "WITH") {
      name += ` WITH ${tokens[position + 1]}`;
      position += 2;
    }
    return ALLOWED.has(name);
  }
  return any();
}

const metadata = JSON.parse(
  execFileSync("cargo", ["metadata", "--format-version", "1", "--locked"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  }),
);
const refused = metadata.packages.filter(
  ({ license, license_file }) => !(license ? isAllowed(license) : license_file === "LICENSE"),
);
for (const { name, version, license } of refused) {
  console.error(`${name} ${version}: ${license ?? "no licence named"} is not on the list in tools/licences.mjs`);
}
console.log(`${metadata.packages.length} crates, ${refused.length} with a licence to look at`);
process.exitCode = refused.length === 0 ? 0 : 1;
