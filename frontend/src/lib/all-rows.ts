/** The server's limit for one answer; asking for more brings no more. */
const pageSize = 1000;

/** Reads a list to its end, a page at a time. For lists of ids, whose rows are small. */
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
