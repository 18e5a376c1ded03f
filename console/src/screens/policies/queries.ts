/** The queries of the screens about policies. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";
import { listOf, type SchemaObject, textOf } from "@/api/objects";
import type { Subject } from "@/api/subject";
import { type PolicyCommand, type PolicyDraft, policyCommands } from "@/lib/sql/ddl/policies";
import type { AccessReport } from "./access-matrix";
import type { Simulation, SimulationRequest, UnsavedPolicy } from "./simulation";

export const accessQuery = queryOptions({
  queryKey: ["access"],
  queryFn: ({ signal }) => request<AccessReport>("/api/access", { signal }),
});

interface SimulateOptions {
  subject: Subject;
  request: SimulationRequest;
  policies: UnsavedPolicy[];
}

export function simulate(options: SimulateOptions): Promise<Simulation> {
  return request<Simulation>("/api/simulate", { json: options });
}

/** A request of the log, to be simulated. */
export const loggedRequestQuery = (id: string) =>
  queryOptions({
    queryKey: ["log", id],
    queryFn: ({ signal }) =>
      request<{
        entry: { method: string; path: string; user?: string | null; role?: string | null };
      }>(`/api/logs/${encodeURIComponent(id)}`, { signal }),
  });

/** A draft beside the policy that it changes; null for a new one. */
export interface EditedPolicy {
  before: PolicyDraft | null;
  draft: PolicyDraft;
}

/** A saved policy as the form's draft. */
export function toDraft(object: SchemaObject): PolicyDraft {
  const command = textOf(object, "command").toLowerCase();
  return {
    table: { schema: object.schema ?? "public", name: object.table ?? "" },
    name: object.name,
    command: isCommand(command) ? command : "all",
    isPermissive: object.permissive !== false,
    roles: listOf(object, "roles"),
    using: textOf(object, "using"),
    check: textOf(object, "check"),
  };
}

function isCommand(text: string): text is PolicyCommand {
  return policyCommands.some((command) => command === text);
}

/** The draft as the simulator takes it, which replaces the saved policy of the same name. So a renamed policy keeps its saved name. */
export function toUnsaved({ before, draft }: EditedPolicy): UnsavedPolicy {
  const name = before?.name ?? draft.name;
  return {
    name: name.trim() === "" ? "unsaved policy" : name,
    command: draft.command,
    permissive: draft.isPermissive,
    roles: draft.roles,
    using: draft.using.trim() === "" ? null : draft.using,
    check: draft.check.trim() === "" ? null : draft.check,
  };
}
