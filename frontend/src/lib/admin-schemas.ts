import * as z from "zod/mini";

// zod compiles schemas with `new Function` if it may; the Content-Security-Policy forbids that and reports each attempt.
z.config({ jitless: true });

/** A required name. */
export function nameSchema(tooShort: string, longest = 120) {
  return z
    .string()
    .check(
      z.trim(),
      z.minLength(2, tooShort),
      z.maxLength(longest, `At most ${longest} characters`),
    );
}

/** An optional text; empty when there is none. */
export function textSchema(longest: number) {
  return z.string().check(z.trim(), z.maxLength(longest, `At most ${longest} characters`));
}

/**
 * The URL of a picture: absolute, or root-relative as our storage returns it; empty when there is none. The site's own
 * Content-Security-Policy shows no picture of an unencrypted address.
 */
export const pictureSchema = z
  .string()
  .check(
    z.trim(),
    z.maxLength(2048, "At most 2048 characters"),
    z.regex(/^$|^(https?:\/\/|\/)\S+$/, "Must be a valid URL"),
    z.regex(/^(?!http:)/i, "Pictures need an address that begins with https://"),
  );
