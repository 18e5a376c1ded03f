// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

it("console_033_nothing_is_sent_without_the_headers_of_the_page", () => {
  const folder = join(import.meta.dirname, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.tsx?$/.test(file) && !file.includes(".test."),
  );
  const senders = files.filter((file) =>
    /\b(fetch\(|new XMLHttpRequest|new EventSource|new WebSocket|sendBeacon)/.test(
      readFileSync(join(folder, file), "utf8"),
    ),
  );

  expect(senders.sort()).toEqual([
    "api/client.ts",
    "screens/api/send-request.ts",
    "screens/tables/transfer/import/import-file.ts",
  ]);
  for (const file of senders) {
    expect(readFileSync(join(folder, file), "utf8"), file).toContain("pageHeaders()");
  }
});
