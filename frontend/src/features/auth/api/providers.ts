import { queryOptions } from "@tanstack/react-query";
import { paths } from "@/lib/paths";
import { stale } from "@/lib/query-client";
import { ServiceError } from "@/lib/service-error";
import { servicesUrl } from "@/lib/services";
import { loadAuth, supabaseKey } from "@/lib/supabase";
import { enabledProviders, type IdentityProvider, providersKey } from "./enabled-providers";

/** The providers that the server is configured for. */
export function providersQuery() {
  return queryOptions({
    queryKey: providersKey,
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
