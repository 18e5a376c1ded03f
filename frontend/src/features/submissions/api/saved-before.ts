/** An earlier attempt has saved the draft with other contents, and the outfit cannot be changed any more. */
export class SavedBeforeError extends Error {
  constructor(name: string) {
    super(
      `It was saved before as “${name}” and is on the site. Your changes are kept here: submit them again for a second outfit.`,
    );
  }
}
