import { localStore } from "@/lib/browser-storage";

/** Origin of the services: the page's own, unless the build names another. */
export const servicesUrl = import.meta.env.VITE_SUPABASE_URL ?? window.location.origin;

/** The key under which supabase-js stores the session by default; named here so that {@link hasStoredSession} can look. */
export const sessionKey = `sb-${new URL(servicesUrl).hostname.split(".")[0]}-auth-token`;

/** The address at which the app reads a signed-in person's own profile, exactly as supabase-js writes it. */
export function ownProfileUrl(userId: string): string {
  return `${servicesUrl}/rest/v1/profiles?select=*&id=eq.${userId}`;
}

/** Whether a session is stored, valid or not. Available immediately, unlike the session itself. */
export function hasStoredSession(): boolean {
  return localStore.get(sessionKey) !== null;
}
