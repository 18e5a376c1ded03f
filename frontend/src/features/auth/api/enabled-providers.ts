// The answer of `/auth/v1/settings`, also for the script that draws the first view: nothing here needs the auth client.

import type { Provider } from "@supabase/auth-js";

/** Identity providers with their labels. The service may know more; those get no button. */
const labels = {
  google: "Google",
  apple: "Apple",
  azure: "Microsoft",
  facebook: "Facebook",
  github: "GitHub",
  gitlab: "GitLab",
  keycloak: "Keycloak",
  linkedin_oidc: "LinkedIn",
  discord: "Discord",
  slack_oidc: "Slack",
  spotify: "Spotify",
  twitch: "Twitch",
  twitter: "X",
} as const satisfies Partial<Record<Provider, string>>;

export interface IdentityProvider {
  id: keyof typeof labels;
  label: string;
}

/** Where the query cache keeps the providers. */
export const providersKey = ["auth", "settings"] as const;

/** The providers that may be offered, from what the server answers about its settings. */
export function enabledProviders(settings: unknown): IdentityProvider[] {
  if (typeof settings !== "object" || settings === null || !("external" in settings)) return [];
  const external = new Map(Object.entries(settings.external ?? {}));
  return Object.entries(labels).flatMap(([id, label]) =>
    hasLabel(id) && external.get(id) === true ? [{ id, label }] : [],
  );
}

function hasLabel(id: string): id is keyof typeof labels {
  return id in labels;
}
