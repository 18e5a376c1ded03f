const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text is a UUID. Addresses name rows by slug or by id; asking an id column for a slug would be an error. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
