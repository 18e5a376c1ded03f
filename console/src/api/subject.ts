/** The role as which a statement runs; `admin` is the database login of the account's level. */
export type Subject =
  | { kind: "admin" }
  | { kind: "anon" }
  | { kind: "service_role" }
  | { kind: "user"; id: string; aal?: "aal1" | "aal2" }
  | { kind: "claims"; claims: Record<string, unknown> };

/** A few words for buttons and banners. */
export function describeSubject(subject: Subject): string {
  switch (subject.kind) {
    case "admin":
      return "postgres";
    case "anon":
      return "anon";
    case "service_role":
      return "service_role";
    case "user":
      return `user ${subject.id.slice(0, 8)}…${subject.aal === "aal2" ? " (aal2)" : ""}`;
    case "claims":
      return "own claims";
  }
}
