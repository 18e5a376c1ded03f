import { enabledProviders, type IdentityProvider } from "@/features/auth/api/enabled-providers";
import { servicesUrl } from "@/lib/services";

/**
 * Asks for the identity providers while the stylesheet is loaded: their buttons decide how high the sign-in form is, and a form
 * that grows moves. Null when the server gives no answer; the app then asks again.
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
