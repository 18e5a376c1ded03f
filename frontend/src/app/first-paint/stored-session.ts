import { localStore } from "@/lib/browser-storage";
import { sessionKey } from "@/lib/services";

/** Seconds before its end in which the auth client replaces a token; a request with the old one would be for nothing. */
const renewalMargin = 90;

export interface StoredSession {
  access_token: string;
  expires_at: number;
  user: { id: string; email?: string };
}

function isStoredSession(value: unknown): value is StoredSession {
  if (typeof value !== "object" || value === null) return false;
  const { access_token, expires_at, user } = value as Partial<StoredSession>;
  return (
    typeof access_token === "string" &&
    typeof expires_at === "number" &&
    typeof user?.id === "string"
  );
}

/** The session that supabase-js has stored, if its token can still be used. */
export function readStoredSession(): StoredSession | null {
  try {
    const stored: unknown = JSON.parse(localStore.get(sessionKey) ?? "null");
    const isUsable =
      isStoredSession(stored) && stored.expires_at - Date.now() / 1000 > renewalMargin;
    return isUsable ? stored : null;
  } catch {
    // The auth client decides what becomes of a session that cannot be read.
    return null;
  }
}
