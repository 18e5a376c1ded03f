import type { Provider } from "@supabase/auth-js";
import { queryOptions } from "@tanstack/react-query";
import { paths } from "@/lib/paths";
import { stale } from "@/lib/query-client";
import { ServiceError } from "@/lib/service-error";
import { servicesUrl } from "@/lib/services";
import { loadAuth, supabaseKey } from "@/lib/supabase";

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

/** The providers that the server is configured for. */
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
  return Object.entries(labels).flatMap(([id, label]) =>
    hasLabel(id) && external.get(id) === true ? [{ id, label }] : [],
  );
}

function hasLabel(id: string): id is keyof typeof labels {
  return id in labels;
}

/** Redirects to the provider's page, which redirects back to /auth. */
export async function signInWithProvider(provider: IdentityProvider["id"]): Promise<void> {
  const { error } = await (await loadAuth()).signInWithOAuth({
    provider,
    options: {
      redirectTo: new URL(paths.auth, window.location.origin).href,
      scopes: "openid email profile",
      queryParams: { access_type: "offline", prompt: "consent" },
    },
  });
  if (error !== null) throw error;
}
