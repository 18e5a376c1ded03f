/** The server returns at most this many rows per response (`max_rows` in config.toml). */
const pageSize = 1000;

/** Reads a list to its end, page by page. Meant for lists of ids, whose rows are small. */
export async function allRows<Row>(
  readPage: (from: number, to: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await readPage(rows.length, rows.length + pageSize - 1);
    rows.push(...page);
    if (page.length < pageSize) return rows;
  }
}
