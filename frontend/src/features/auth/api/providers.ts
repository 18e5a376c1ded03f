import { queryOptions } from "@tanstack/react-query";
import { authCallback } from "@/lib/auth-callback";
import { sessionStore } from "@/lib/browser-storage";
import { paths, type ReturnState } from "@/lib/paths";
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

/** Where the page to return to is kept while the browser is at a provider: history state does not survive that. */
const returnKey = "lookbook:return-after-provider";

/** Redirects to the provider's page, which redirects back to /auth; `back` is the page that is opened after that. */
export async function signInWithProvider(
  provider: IdentityProvider["id"],
  back: string,
): Promise<void> {
  sessionStore.set(returnKey, back);
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

/** The history state of /auth from before the visit to a provider; null unless this page load came from one. */
export function returnStateOfProvider(): ReturnState | null {
  const isReturn = authCallback.kind === "signed-in" || authCallback.kind === "failed";
  const from = isReturn ? sessionStore.get(returnKey) : null;
  return from === null ? null : { from };
}
