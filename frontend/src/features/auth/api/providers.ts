import type { Provider } from "@supabase/supabase-js";
import { queryOptions } from "@tanstack/react-query";
import { paths } from "@/lib/paths";
import { stale } from "@/lib/query-client";
import { ServiceError } from "@/lib/service-error";
import { servicesUrl, supabase, supabaseKey } from "@/lib/supabase";

/** Identity providers that a button can be made for. */
const known = {
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
  id: keyof typeof known;
  label: string;
}

/** The providers that this server is set up for: a button that cannot work is not shown. */
export function providersQuery() {
  return queryOptions({
    queryKey: ["auth", "settings"],
    staleTime: stale.vocabulary,
    queryFn: async ({ signal }): Promise<IdentityProvider[]> => {
      const response = await fetch(`${servicesUrl}/auth/v1/settings`, {
        headers: { apikey: supabaseKey },
        signal,
      });
      if (!response.ok) {
        throw new ServiceError("The sign-in settings could not be read.", "", response.status);
      }
      return enabledProviders(await response.json());
    },
  });
}

export function enabledProviders(settings: unknown): IdentityProvider[] {
  if (typeof settings !== "object" || settings === null || !("external" in settings)) return [];
  const external = new Map(Object.entries(settings.external ?? {}));
  return Object.entries(known).flatMap(([id, label]) =>
    isKnown(id) && external.get(id) === true ? [{ id, label }] : [],
  );
}

function isKnown(id: string): id is keyof typeof known {
  return id in known;
}

/** Leaves for the provider's own page; it sends the visitor back to /auth. */
export async function signInWithProvider(provider: IdentityProvider["id"]): Promise<void> {
  const { error } = await supabase.auth.signInWithOAuth({
    provider,
    options: {
      redirectTo: new URL(paths.auth, window.location.origin).href,
      scopes: "openid email profile",
      queryParams: { access_type: "offline", prompt: "consent" },
    },
  });
  if (error !== null) throw error;
}
