// A bucket with more files than a page can hold at once.

import { expect, runSql, test } from "./console-test.ts";

// To make a file costs about 0.3 ms, so `make test` makes fewer of them.
const files = process.env.EVERY_SCREEN ? 100_000 : 20_000;

const fixture = (bucket: string) => `
insert into storage.buckets (id, name) values ('${bucket}', '${bucket}');
insert into storage.objects (bucket_id, name, metadata)
select '${bucket}', 'file-' || lpad(n::text, 6, '0') || '.txt', '{"size": 1, "mimetype": "text/plain"}'
from generate_series(1, ${files}) n`;

test("console_122 a list of very many files is scrolled to its end, and only the visible ones are drawn @once", async ({
  page,
  consoleServer,
}) => {
  test.slow();
  const bucket = "archive";
  await runSql(consoleServer, fixture(bucket));
  await page.goto(`/storage?bucket=${bucket}`);
  const list = page.getByRole("grid", { name: "Files" });
  const row = (number: number) => list.getByText(`file-${`${number}`.padStart(6, "0")}.txt`);
  await expect(row(1)).toBeVisible();

  await list.focus();
  await expect(async () => {
    await page.keyboard.press("End");
    await expect(row(files)).toBeVisible({ timeout: 100 });
  }).toPass({ intervals: [20] });

  await expect(list).toHaveAttribute("aria-rowcount", `${files + 1}`);
  expect(await list.getByRole("row").count()).toBeLessThan(100);
  await page.keyboard.press("Home");
  await expect(row(1)).toBeVisible();

  // The wheel and the finger move the list as the keys do, and frames stay short in the middle of so many rows.
  const slowest = await list.evaluate(async (element) => {
    let longest = 0;
    let last = performance.now();
    for (let frame = 0; frame < 120; frame += 1) {
      element.scrollTop += 600;
      const now = await new Promise<number>((drawn) => requestAnimationFrame(drawn));
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  });
  expect(slowest, "milliseconds of the longest frame").toBeLessThan(1000);
  await expect(list.getByRole("row").nth(5)).toBeVisible();
});
