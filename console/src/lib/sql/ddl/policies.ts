/** SQL for row-level security policies, and templates to begin with. */
import { quoteIdentifier, quoteName } from "../quote";
import type { TableName } from "./columns";

export const policyCommands = ["all", "select", "insert", "update", "delete"] as const;
export type PolicyCommand = (typeof policyCommands)[number];

export interface PolicyDraft {
  table: TableName;
  name: string;
  command: PolicyCommand;
  isPermissive: boolean;
  /** Empty or `public` for everyone. */
  roles: string[];
  /** Condition on rows that exist; empty for none. */
  using: string;
  /** Condition on rows that are written; empty takes the other one. */
  check: string;
}

export const hasUsing = (command: PolicyCommand) => command !== "insert";
export const hasCheck = (command: PolicyCommand) => command !== "select" && command !== "delete";

export function createPolicy(draft: PolicyDraft): string {
  const lines = [
    `create policy ${quoteIdentifier(draft.name)} on ${quoteName(draft.table.schema, draft.table.name)}`,
    draft.isPermissive ? "" : "  as restrictive",
    `  for ${draft.command}`,
    `  to ${describeRoles(draft.roles)}`,
    ...describeConditions(draft),
  ];
  return `${lines.filter((line) => line !== "").join("\n")};`;
}

/** Changes a policy in place where PostgreSQL can; command and kind need a new one, made in the same migration. */
export function alterPolicy(before: PolicyDraft, after: PolicyDraft): string {
  const lostCondition =
    (before.using !== "" && after.using === "") || (before.check !== "" && after.check === "");
  if (
    before.command !== after.command ||
    before.isPermissive !== after.isPermissive ||
    lostCondition
  ) {
    return `${dropPolicy(before)}\n${createPolicy(after)}`;
  }
  const table = quoteName(after.table.schema, after.table.name);
  const statements: string[] = [];
  const changes: string[] = [];
  const roles = describeRoles(after.roles);
  if (roles !== describeRoles(before.roles)) changes.push(`  to ${roles}`);
  if (after.using !== before.using) changes.push(`  using (${after.using.trim()})`);
  if (after.check !== before.check) changes.push(`  with check (${after.check.trim()})`);
  if (changes.length > 0) {
    const name = quoteIdentifier(before.name);
    statements.push(`alter policy ${name} on ${table}\n${changes.join("\n")};`);
  }
  if (before.name !== after.name) {
    const names = `${quoteIdentifier(before.name)} on ${table} rename to ${quoteIdentifier(after.name)}`;
    statements.push(`alter policy ${names};`);
  }
  return statements.join("\n");
}

export function dropPolicy({ table, name }: Pick<PolicyDraft, "table" | "name">): string {
  return `drop policy ${quoteIdentifier(name)} on ${quoteName(table.schema, table.name)};`;
}

function describeRoles(roles: readonly string[]): string {
  // `public` is a keyword here, so it must not be quoted.
  const named = roles.filter((role) => role !== "public");
  return named.length === 0 ? "public" : named.map(quoteIdentifier).join(", ");
}

function describeConditions({ command, using, check }: PolicyDraft): string[] {
  return [
    hasUsing(command) && using.trim() !== "" ? `  using (${using.trim()})` : "",
    hasCheck(command) && check.trim() !== "" ? `  with check (${check.trim()})` : "",
  ];
}

export interface PolicyTemplate {
  title: string;
  explanation: string;
  /** Fills a draft; the column is one that holds the owner's id. */
  draft: (table: TableName, ownerColumn: string) => PolicyDraft;
}

const isOwner = (column: string) => `(select auth.uid()) = ${quoteIdentifier(column)}`;

export const policyTemplates: readonly PolicyTemplate[] = [
  {
    title: "Everyone can read",
    explanation: "Rows are public, signed in or not. Nothing can be written.",
    draft: (table) => fill(table, "Everyone can read", "select", ["anon", "authenticated"], "true"),
  },
  {
    title: "Signed-in users can read",
    explanation: "Any user with a session reads all rows.",
    draft: (table) => fill(table, "Signed-in users can read", "select", ["authenticated"], "true"),
  },
  {
    title: "Users read their own rows",
    explanation: "A row is seen by the user whose id it holds.",
    draft: (table, owner) =>
      fill(table, "Users read their own rows", "select", ["authenticated"], isOwner(owner)),
  },
  {
    title: "Users insert their own rows",
    explanation: "A new row has to hold the id of whoever inserts it.",
    draft: (table, owner) =>
      fill(table, "Users insert their own rows", "insert", ["authenticated"], "", isOwner(owner)),
  },
  {
    title: "Users update their own rows",
    explanation: "Own rows can be changed, but not given to somebody else.",
    draft: (table, owner) =>
      fill(
        table,
        "Users update their own rows",
        "update",
        ["authenticated"],
        isOwner(owner),
        isOwner(owner),
      ),
  },
  {
    title: "Users delete their own rows",
    explanation: "Own rows can be deleted.",
    draft: (table, owner) =>
      fill(table, "Users delete their own rows", "delete", ["authenticated"], isOwner(owner)),
  },
  {
    title: "Only with a second factor",
    explanation: "Restrictive: whatever else is allowed, the session has to be at aal2.",
    draft: (table) => ({
      ...fill(
        table,
        "Only with a second factor",
        "all",
        ["authenticated"],
        "(select auth.jwt() ->> 'aal') = 'aal2'",
      ),
      isPermissive: false,
    }),
  },
];

function fill(
  table: TableName,
  name: string,
  command: PolicyCommand,
  roles: string[],
  using: string,
  check = "",
): PolicyDraft {
  return { table, name, command, isPermissive: true, roles, using, check };
}

/** The column that most likely holds the owner's id, for the templates. */
export function guessOwnerColumn(columns: readonly { name: string; type: string }[]): string {
  const likely = [
    "user_id",
    "owner_id",
    "owner",
    "author_id",
    "profile_id",
    "creator_id",
    "created_by",
  ];
  const ids = columns.filter(({ type }) => type === "uuid").map(({ name }) => name);
  return (
    likely.find((name) => ids.includes(name)) ?? ids.find((name) => name === "id") ?? "user_id"
  );
}
