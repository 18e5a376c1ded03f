// The people who try everything in the attack matrix.

import { createHmac } from "node:crypto";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import WebSocket from "ws";
import { apiUrl } from "./address.ts";
import { expectData } from "./catalogue.ts";
import { anonKey, owner, type Person, signUp, signUpAdmin, visitor } from "./clients.ts";

/** Administrators last, because they may delete what the others attack. */
export const actors = ["visitor", "user", "creator", "demoted", "expired", "admin"] as const;
export type Actor = (typeof actors)[number];

export const everybody: readonly Actor[] = ["visitor", "user", "creator", "demoted", "admin"];
export const signedIn: readonly Actor[] = ["user", "creator", "demoted", "admin"];
export const admins: readonly Actor[] = ["admin"];
export const nobody: readonly Actor[] = [];

/** A token of this person that was valid until an hour ago. */
function expiredToken(person: Person): string {
  const hour = 3600;
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: person.id, role: "authenticated", aud: "authenticated", exp: now - hour };
  const body = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  const secret = "super-secret-jwt-token-with-at-least-32-characters-long";
  return `${body}.${createHmac("sha256", secret).update(body).digest("base64url")}`;
}

export interface Attackers {
  clients: Record<Actor, SupabaseClient>;
  /** Their ids; a visitor has none. */
  ids: Partial<Record<Actor, string>>;
}

export async function makeAttackers(): Promise<Attackers> {
  const [user, creator, demoted, admin, expired] = await Promise.all([
    signUp(),
    signUp(),
    signUpAdmin(),
    signUpAdmin(),
    signUpAdmin(),
  ]);
  // The token was given to an administrator and is still valid.
  expectData(await owner().from("profiles").update({ role: "user" }).eq("id", demoted.id));
  const late = createClient(apiUrl(), anonKey, {
    accessToken: async () => expiredToken(expired),
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
  return {
    clients: {
      visitor: visitor(),
      user: user.client,
      creator: creator.client,
      demoted: demoted.client,
      expired: late,
      admin: admin.client,
    },
    ids: {
      user: user.id,
      creator: creator.id,
      demoted: demoted.id,
      expired: expired.id,
      admin: admin.id,
    },
  };
}

/** Calls `attempt` for every actor. Returns the names of those who succeeded. */
export async function whoSucceeds(attempt: (actor: Actor) => Promise<boolean>): Promise<Actor[]> {
  const done: Actor[] = [];
  for (const actor of actors) {
    if (await attempt(actor)) {
      done.push(actor);
    }
  }
  return done;
}

export function inOrder(names: readonly Actor[]): Actor[] {
  return actors.filter((actor) => names.includes(actor));
}
