// Before the client exists: it reads the hash of a mail link, which the client consumes.
import "@/lib/arrival";
import { createClient } from "@supabase/supabase-js";
import type { Database } from "@/lib/database.types";

/** Where the services answer: the page's own origin, unless the build says otherwise. */
export const servicesUrl = import.meta.env.VITE_SUPABASE_URL ?? window.location.origin;

/**
 * The server writes its publishable key into index.html. Where nobody did (the development server,
 * unit tests), the placeholder is still there and the key of the environment takes its place.
 */
function publishableKey(): string {
  const written = document.querySelector<HTMLMetaElement>('meta[name="supabase-key"]')?.content;
  if (written !== undefined && written !== "" && !written.startsWith("%")) return written;
  const fromEnvironment = import.meta.env.VITE_SUPABASE_KEY;
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  throw new Error("No publishable key: index.html was served without one.");
}

export const supabaseKey = publishableKey();

/** The only client. Sessions persist in local storage; links from mails carry tokens in the hash. */
export const supabase = createClient<Database>(servicesUrl, supabaseKey, {
  auth: { flowType: "implicit", persistSession: true, autoRefreshToken: true },
});

/**
 * Whether this user's session is still there. Another tab may have ended it a moment ago, and what belongs to one
 * person alone must not be asked for without it.
 */
export async function hasSession(userId: string): Promise<boolean> {
  const { data } = await supabase.auth.getSession();
  return data.session?.user.id === userId;
}
