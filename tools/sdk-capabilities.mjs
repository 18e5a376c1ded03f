#!/usr/bin/env node
// Writes the table of capabilities in docs/compatibility.md from tools/sdk-capabilities.tsv, which names the tests for each capability.
// A name with which no test begins is an error. With --check nothing is written, and an outdated table is an error, too.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const page = join(root, "docs/compatibility.md");
const [begin, end] = ["<!-- capabilities -->\n", "<!-- /capabilities -->\n"];

const entries = readFileSync(join(root, "tools/sdk-capabilities.tsv"), "utf8")
  .split("\n")
  .filter((line) => line && !line.startsWith("#"))
  .map((line) => {
    const [ids, proof, reason] = line.split("\t");
    const tests = reason ? [] : proof.split(" | ");
    return { ids: ids.split(" "), status: reason ? proof : "works", reason, tests };
  });

const names = [...testNames("crates", /\.rs$/, /\bfn (\w+)/g), ...testNames("e2e", /\.(test|spec)\.ts$/, /\btest\(\s*"([^"]+)"/g)];
const ids = entries.flatMap((entry) => entry.ids);
const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
const missing = entries.flatMap((entry) => entry.tests).filter((test) => !names.some((name) => name.startsWith(test)));
const text = readFileSync(page, "utf8");
const from = text.indexOf(begin) + begin.length;
const updated = text.slice(0, from) + renderTable() + text.slice(text.indexOf(end));

const faults = [...repeated.map((id) => `${id} is listed twice`), ...missing.map((test) => `no test begins with: ${test}`)];
if (process.argv.includes("--check")) {
  if (updated !== text) faults.push("the table in docs/compatibility.md is out of date: run tools/sdk-capabilities.mjs");
} else if (faults.length === 0) {
  writeFileSync(page, updated);
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;

/** Names of tests: what `pattern` captures in a folder's files whose names match `ending`. */
function testNames(folder, ending, pattern) {
  const files = readdirSync(join(root, folder), { recursive: true });
  const sources = files.filter((file) => ending.test(file) && !file.includes("node_modules"));
  return sources.flatMap((file) =>
    [...readFileSync(join(root, folder, file), "utf8").matchAll(pattern)].map((match) => match[1]),
  );
}

function renderTable() {
  const count = (status) => entries.filter((entry) => entry.status === status).flatMap((entry) => entry.ids).length;
  const lines = [
    `${ids.length} capabilities: ${count("works")} are proven by the tests named, ${count("client")} concern the client alone, ${count("not yet")} are missing, ${count("not applicable")} have no meaning here.`,
    "",
    "| capabilities | here | tests or reason |",
    "|---|---|---|",
    ...entries.map((entry) => `| ${renderIds(entry.ids)} | ${entry.status} | ${entry.reason ?? entry.tests.map((test) => `\`${test}\``).join(", ")} |`),
  ];
  return `${lines.join("\n")}\n`;
}

/** Groups ids by their prefix, such as `auth.mfa`: enroll, verify. */
function renderIds(list) {
  const groups = new Map();
  for (const id of list) {
    const group = id.slice(0, id.lastIndexOf("."));
    groups.set(group, [...(groups.get(group) ?? []), id]);
  }
  return [...groups]
    .map(([group, members]) => `\`${group}\`: ${members.map((id) => id.slice(group.length + 1).replaceAll("_", " ")).join(", ")}`)
    .join("; ");
}
