import { zodResolver } from "@hookform/resolvers/zod";
import * as z from "zod/mini";

// zod compiles schemas with `new Function` if it may; the Content-Security-Policy forbids that and reports each attempt.
z.config({ jitless: true });

function link(field: string) {
  const message = `Please enter a valid URL for ${field}.`;
  return z.string().check(
    z.trim(),
    z.maxLength(2048, message),
    z.refine((url) => url === "" || isWebAddress(url), message),
  );
}

/** Whether the database accepts this text as a link: an absolute http or https URL without spaces. */
function isWebAddress(url: string): boolean {
  return /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);
}

const usernameLength = "Username must be between 3 and 50 characters.";

function fields(requiresUsername: boolean, tooShort: string) {
  return z.object({
    username: z.string().check(
      z.trim(),
      z.refine((name) => name.length >= 3 || (name === "" && !requiresUsername), tooShort),
      z.maxLength(50, usernameLength),
      z.refine(
        (name) => name === "" || /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name),
        "Use letters, numbers, dots, dashes and underscores only.",
      ),
    ),
    fullName: z.string().check(z.trim(), z.maxLength(120, "Display name is too long.")),
    bio: z
      .string()
      .check(z.trim(), z.maxLength(1000, "Bio cannot be longer than 1000 characters.")),
    instagramUrl: link("Instagram"),
    twitterUrl: link("Twitter"),
    websiteUrl: link("Website"),
  });
}

/** The schema of a form. In the short form a username is optional as long as there is none; the full form requires one. */
export function profileSchema(form: "short" | "full", hasUsername: boolean) {
  return form === "short"
    ? fields(hasUsername, "Username must be at least 3 characters")
    : fields(true, usernameLength);
}

export type ProfileValues = z.infer<ReturnType<typeof fields>>;

/** Checks the form. Imported by `lazyResolver` only, so that the library for schemas is loaded when something is checked. */
export function profileResolver(form: "short" | "full", hasUsername: boolean) {
  return zodResolver(profileSchema(form, hasUsername));
}
