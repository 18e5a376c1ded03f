// SQL text: literals and multi-row inserts.

export const quote = (value) => {
  if (value === null || value === undefined || value === '') return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value.raw) return value.raw;
  return `'${String(value).replaceAll("'", "''")}'`;
};

/** SQL that is inserted without quoting. */
export const raw = (text) => ({ raw: text });

/** A literal that stays empty text instead of becoming null. */
export const empty = raw("''");

export const uuids = (list) => raw(`'{${list.join(',')}}'`);

/** An SQL expression for a time this many hours before the seed runs. */
export const ago = (hours) => raw(`now() - interval '${hours} hours'`);

export function insert(table, columns, rows) {
  if (!rows.length) return '';
  return `insert into ${table} (${columns.join(', ')}) values\n${rows.map((r) => `  (${r.map(quote).join(', ')})`).join(',\n')};\n`;
}
