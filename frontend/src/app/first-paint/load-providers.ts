import { enabledProviders, type IdentityProvider } from "@/features/auth/api/enabled-providers";
import { servicesUrl } from "@/lib/services";

/**
 * Requests the identity providers while the stylesheet is loaded: their buttons determine the height of the sign-in form,
 * which must not change later. Null when the request fails; the app then repeats it.
 */
export async function loadProviders(): Promise<IdentityProvider[] | null> {
  const key = document.querySelector<HTMLMetaElement>('meta[name="supabase-key"]')?.content ?? "";
  try {
    const response = await fetch(`${servicesUrl}/auth/v1/settings`, { headers: { apikey: key } });
    return response.ok ? enabledProviders(await response.json()) : null;
  } catch {
    return null;
  }
}
