/** Rows that a list asks for at a time. */
export const pageSize = 24;
