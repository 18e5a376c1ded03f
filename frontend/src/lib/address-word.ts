/** A name as addresses write it: "Tarn & Tiller" is "tarn-tiller". The database's `private.address_word` computes the same. */
export function addressWord(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}
