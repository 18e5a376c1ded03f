import { queryOptions, useQuery } from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { request } from "@/api/client";
import { forgetSecret, keepSecret } from "@/api/secret";

export type Level = "viewer" | "admin";

/** Response of `GET /api/session`. If sign-in is required and nobody is signed in, the optional members are absent. */
export interface Session {
  mode: "start" | "serve";
  /** Whether accounts sign in. */
  login: boolean;
  /** Who may sign in: the console's own accounts, users of the project. */
  sign_in?: { accounts: boolean; project: boolean };
  /** `key` names the database, and is missing while that is away. */
  project: { name: string; key?: string | null };
  version: string;
  account?: { name: string; level: Level } | null;
  read_only?: boolean;
  schema_changes?: boolean;
  /** Whether changes of the schema are written as migration files of the project. */
  migrations?: boolean;
  api_url?: string;
  publishable_key?: string;
  inbox_url?: string | null;
  postgres_version?: string;
  /** What to know of the database's disk while it has little room. */
  disk?: string | null;
  /** Why something is off, by the name of the field. */
  reasons?: { schema_changes?: string; read_only?: string; migrations?: string };
}

declare global {
  interface Window {
    /** The response to the request that `public/first.js` has sent. */
    firstSession?: Promise<Response> | undefined;
  }
}

/** Returns the response to the first request, once; later requests are sent by `fetch`. */
function takeFirstSession(): Promise<Response> | undefined {
  const { firstSession } = window;
  window.firstSession = undefined;
  return firstSession;
}

export function loadSession(signal?: AbortSignal): Promise<Session> {
  return request<Session>("/api/session", { signal });
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => request<Session>("/api/session", { signal, sent: takeFirstSession() }),
  staleTime: 60_000,
  // Without the key nothing protects another project from this page.
  refetchInterval: ({ state }) => (state.data?.project.key === null ? 2000 : false),
});

/** The session of the account whose screens are shown. It stays while that account is asked to sign in again. */
export const ShownSession = createContext<Session | null>(null);

/** The session inside of the signed-in part of the console, where it has been loaded. */
export function useSession(): Session {
  const shown = useContext(ShownSession);
  const loaded = useQuery(sessionQuery).data;
  const data = shown ?? loaded;
  if (data === undefined) throw new Error("useSession is called inside of the signed-in console.");
  return data;
}

/**
 * Names whose state it is that this browser keeps: the project's, because all local projects share an address, and the account's
 * where accounts sign in.
 */
export function ownerOf({ project, login, account }: Session): string {
  const name = encodeURIComponent(project.name);
  return login ? `${name}:${encodeURIComponent(account?.name ?? "")}` : name;
}

/**
 * Names whose state it is that must not reach another database: staged edits and uploads. A database that was made anew is another
 * one, and so is that of a project with the same name.
 */
export function storeOf(session: Session): string {
  const { key } = session.project;
  const owner = ownerOf(session);
  return key === undefined || key === null ? owner : `${owner}@${key}`;
}

/** Names under which earlier versions have kept what belongs to this session: without the account, and without the database. */
export function earlierOwnersOf(session: Session): string[] {
  const { name } = session.project;
  const present = storeOf(session);
  const earlier = new Set([ownerOf(session), encodeURIComponent(name), name]);
  return [...earlier].filter((owner) => owner !== present);
}

/** Whether both are sessions of one database. Nothing is known while a server cannot ask its own. */
export function isSameProject(one: Session, other: Session): boolean {
  const [key, otherKey] = [one.project.key ?? null, other.project.key ?? null];
  if (one.project.name !== other.project.name) return false;
  return key === null || otherKey === null || key === otherKey;
}

export function isSignedIn(session: Session): boolean {
  return !session.login || (session.account ?? null) !== null;
}

/** Whether the session may change rows and objects. The server decides; this only disables what it would refuse. */
export function canWrite(session: Session): boolean {
  return session.read_only !== true && session.account?.level !== "viewer";
}

/** The reason why writing controls are disabled, or undefined when they are not. */
export function whyReadOnly(session: Session): string | undefined {
  if (session.read_only === true) {
    return (
      session.reasons?.read_only ?? "This console is read-only ([selvedge.console] read_only)."
    );
  }
  if (session.account?.level === "viewer") {
    return "Your account has the level viewer, which can read but not change.";
  }
  return undefined;
}

/** The reason why changes of the schema are disabled, or undefined when they are not. */
export function whyNoSchemaChanges(session: Session): string | undefined {
  const reason = whyReadOnly(session);
  if (reason !== undefined || session.schema_changes !== false) return reason;
  return (
    session.reasons?.schema_changes ??
    "Changes of the schema are off in this console ([selvedge.console] schema_changes)."
  );
}

interface SignInAnswer {
  secret: string;
  account: { name: string; level: Level };
}

/** Signs in. `code` is the code of the second factor, which only users of the project need; else empty. */
export async function signIn(name: string, password: string, code: string): Promise<SignInAnswer> {
  const json = { name, password, ...(code !== "" && { code }) };
  const answer = await request<SignInAnswer>("/api/session", { json });
  keepSecret(answer.secret);
  return answer;
}

export async function signOut(): Promise<void> {
  await request<void>("/api/session", { method: "DELETE" });
  forgetSecret();
}
