/** Rows per page of a list. */
export const pageSize = 24;
