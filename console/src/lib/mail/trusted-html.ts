/**
 * The console's only trusted-types policy. The browser refuses HTML from text anywhere else, so that a forgotten `innerHTML` cannot
 * become a hole. What passes here is parsed into an inert document or shown in a frame without scripts and without an origin.
 */

interface Policy {
  createHTML: (html: string) => string;
}

interface PolicyFactory {
  createPolicy: (name: string, rules: Policy) => Policy;
}

let policy: Policy | undefined;

function findPolicy(): Policy {
  const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
  const rules: Policy = { createHTML: (html) => html };
  return factory === undefined ? rules : factory.createPolicy("selvedge", rules);
}

/** Marks HTML as meant for an inert document. Browsers without trusted types take the text itself. */
export function trustInertHtml(html: string): string {
  policy ??= findPolicy();
  return policy.createHTML(html);
}
