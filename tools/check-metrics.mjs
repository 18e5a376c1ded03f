// Checks that every metric that the dashboard, the alert rules and the documentation name is one that the server has, and that every alert has a
// test, which tools/alert-rules runs.
//
//   node tools/check-metrics.mjs

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
// A name behind a dot is that of a function in a schema.
const name = /(?<!\.)\bselvedge_[a-z]+_[a-z_]+[a-z]\b/g;

/** Every file below a folder whose name ends like this. */
function filesBelow(folder, ending) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((file) => join(folder, file))
    .filter((file) => file.endsWith(ending) && !/(^|\/)(target|node_modules)\//.test(file));
}

/** The name under which a metric is registered: a histogram has three series. */
const registered = (series) => series.replace(/_(bucket|sum|count)$/, "");

const metrics = new Set(
  filesBelow("crates", "metrics.rs").flatMap((file) => {
    const strings = readFileSync(join(root, file), "utf8").match(/"selvedge_[a-z_]+"/g) ?? [];
    return strings.map((string) => string.slice(1, -1));
  }),
);
const documents = [
  ...filesBelow("docker", ".json"),
  ...filesBelow("docker", ".yml"),
  // The contract also names metrics that are not there yet.
  ...filesBelow("docs", ".md").filter((file) => !file.startsWith("docs/contract/")),
];
const platform = filesBelow("sql/platform", ".sql").map((file) => readFileSync(join(root, file), "utf8"));
const namesInSql = new Set(platform.flatMap((sql) => sql.match(name) ?? []));
let problems = 0;
for (const document of documents) {
  const names = new Set(readFileSync(join(root, document), "utf8").match(name) ?? []);
  for (const series of names) {
    // Crates and log filters begin alike, such as selvedge_rest=debug; a metric has at least three parts. Roles and
    // functions of the database have as many, and the SQL that makes them has their names.
    const isMetric = series.split("_").length >= 3 && !namesInSql.has(series);
    if (isMetric && !metrics.has(registered(series))) {
      console.error(`${document}: no metric is called ${series}`);
      problems += 1;
    }
  }
}
const names = (file, key) =>
  readFileSync(join(root, "docker/prometheus", file), "utf8")
    .split("\n")
    .flatMap((line) => line.match(new RegExp(`^ *- ${key}: (\\w+)$`))?.[1] ?? []);
const tested = new Set(names("alerts.test.yml", "alertname"));
for (const alert of names("alerts.yml", "alert").filter((one) => !tested.has(one))) {
  console.error(`docker/prometheus/alerts.test.yml: nothing tests ${alert}`);
  problems += 1;
}
console.log(`${metrics.size} metrics, ${documents.length} documents, ${problems} problems`);
process.exit(problems === 0 ? 0 : 1);
