/** A subject as a URL parameter. Claims are never in the URL, because they may contain personal data. */
import type { Subject } from "@/api/subject";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The parameter's value; null leaves it out, for the default and for claims. */
export function subjectToParam(subject: Subject): string | null {
  switch (subject.kind) {
    case "admin":
    case "claims":
      return null;
    case "user":
      return `${subject.id}${subject.aal === "aal2" ? ".aal2" : ""}`;
    default:
      return subject.kind;
  }
}

/** The subject of a parameter; the account's own login for anything else. */
export function subjectFromParam(param: string | null): Subject {
  if (param === "anon" || param === "service_role") return { kind: param };
  const [id = "", aal] = (param ?? "").split(".");
  if (!uuid.test(id)) return { kind: "admin" };
  return { kind: "user", id, aal: aal === "aal2" ? "aal2" : "aal1" };
}
