// Checks that every file that the documentation names exists, and that a Rust item which it links to is in the linked
// file.
//
//   node tools/check-docs.mjs
//
// Read are the Markdown files of the repository, without those of recorded corpora, and the contract, which names files of the
// originals. Checked are
//   - relative links: [text](path), and for [`name`](file.rs) that the file defines or re-exports `name`;
//   - code such as `crates/rest/src/execute/mod.rs`, and lines of code blocks that begin so: paths that begin with the name of a
//     file or folder at the repository's root. Placeholders (<slug>), globs and generated files are left out;
//   - tests that are named behind their file, as in `e2e/rls/likes.test.ts` "are refused a second time": that the file has the title.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
/** Folders that builds and test runs make. */
const generated = /(^|\/)(dist|artifacts|target|test-results|node_modules|\.selvedge)(\/|$)/;
const topLevel = new Set(readdirSync(root));

/** Every Markdown file below a folder, as a path from the repository's root. */
function* markdownFiles(folder = "") {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== ".git" && !/^(e2e\/golden|docs\/contract)$/.test(path) && !generated.test(path)) {
      yield* markdownFiles(path);
    } else if (entry.isFile() && entry.name.endsWith(".md")) {
      yield path;
    }
  }
}

/** Whether a text is a path from the repository's root that can be checked. */
function isRepositoryPath(text) {
  return (
    /^[\w.@-]+(\/[\w.@-]+)*\/?$/.test(text) &&
    text.includes("/") &&
    topLevel.has(text.split("/")[0]) &&
    !generated.test(text)
  );
}

/** Whether a Rust file defines or re-exports this item; for `Type::method` the method counts. */
function definesItem(path, name) {
  const item = name.split("::").at(-1).replace(/[!()]+$/, "");
  const definition = new RegExp(
    `\\b(fn|struct|enum|trait|type|const|static|mod|macro_rules!)\\s+${item}\\b|\\bpub(\\([^)]*\\))?\\s+use\\b[^;]*\\b${item}\\b`,
  );
  return definition.test(readFileSync(path, "utf8"));
}

function* linkProblems(document, line) {
  for (const [, text, target] of line.matchAll(/\[([^\]]*)\]\(([^)\s]+)\)/g)) {
    const path = target.split("#")[0];
    if (/^[a-z]+:/.test(target) || path === "") {
      continue;
    }
    const file = join(root, dirname(document), path);
    if (!existsSync(file)) {
      yield `links to ${target}, which does not exist`;
      continue;
    }
    const name = /^`([\w:!()]+)`$/.exec(text)?.[1];
    if (name && path.endsWith(".rs") && !definesItem(file, name)) {
      yield `links to ${name}, which ${target} does not define`;
    }
  }
}

function* pathProblems(line, isCodeBlock) {
  const code = isCodeBlock ? [line.split(/\s/)[0]] : [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
  for (const text of code.filter(isRepositoryPath)) {
    if (!existsSync(join(root, text))) {
      yield `names ${text}, which does not exist`;
    }
  }
}

/** Tests that a line names: code with a path of a file of tests, and the title in quotation marks behind it. */
function* testProblems(line) {
  for (const [, path, title] of line.matchAll(/`([\w./-]+\.(?:tsx?|rs))` "([^"]+)"/g)) {
    const file = join(root, path);
    if (existsSync(file) && !readFileSync(file, "utf8").includes(title)) {
      yield `names the test "${title}", which ${path} does not have`;
    }
  }
}

const documents = [...markdownFiles()].sort();
let problems = 0;
for (const document of documents) {
  let isCodeBlock = false;
  for (const [index, line] of readFileSync(join(root, document), "utf8").split("\n").entries()) {
    if (line.trimStart().startsWith("```")) {
      isCodeBlock = !isCodeBlock;
      continue;
    }
    const found = [
      ...(isCodeBlock ? [] : [...linkProblems(document, line), ...testProblems(line)]),
      ...pathProblems(line, isCodeBlock),
    ];
    for (const problem of found) {
      console.error(`${document}:${index + 1}: ${problem}`);
      problems += 1;
    }
  }
}
console.log(`${documents.length} documents, ${problems} problems`);
process.exitCode = problems === 0 ? 0 : 1;
