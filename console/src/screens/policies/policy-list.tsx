/** The saved policies of a table, and the menu of templates for a new one. */
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Pencil, Plus, ShieldCheck, Trash2 } from "lucide-react";
import type { Table } from "@/api/catalog-model";
import { Badge } from "@/components/badge";
import { EmptyState } from "@/components/empty-state";
import { Menu, MenuHeading, MenuItem, MenuSeparator } from "@/components/menu";
import { Text } from "@/components/text";
import {
  dropPolicy,
  guessOwnerColumn,
  type PolicyDraft,
  policyTemplates,
} from "@/lib/sql/ddl/policies";

interface PolicyListProps {
  policies: readonly PolicyDraft[];
  /** The reason why changes are disabled; undefined when they are enabled. */
  reason: string | undefined;
  isRlsOn: boolean;
  onEdit: (policy: PolicyDraft) => void;
  onChange: (change: { title: string; sql: string }) => void;
}

export function PolicyList({ policies, reason, isRlsOn, onEdit, onChange }: PolicyListProps) {
  if (policies.length === 0) {
    return (
      <EmptyState
        icon={ShieldCheck}
        title="This table has no policy"
        text={
          isRlsOn
            ? "With row-level security on and no policy, only service_role and the owner reach its rows."
            : "Enable row-level security, then say who may do what."
        }
      />
    );
  }
  return (
    <ul aria-label="Policies" className="space-y-2.5">
      {policies.map((policy) => (
        <li key={policy.name} className="rounded-md border border-line bg-surface">
          <div className="flex items-start gap-2 py-2 pr-1.5 pl-3">
            <div className="min-w-0 flex-1">
              <h2 className="break-words font-medium">
                <Text>{policy.name}</Text>
              </h2>
              <p className="mt-1 flex flex-wrap items-center gap-1.5 text-caption text-ink-soft">
                <Badge tone="info">{policy.command.toUpperCase()}</Badge>
                {!policy.isPermissive && <Badge tone="warning">restrictive</Badge>}
                <span className="min-w-0 truncate">
                  to <Text>{policy.roles.join(", ") || "public"}</Text>
                </span>
              </p>
            </div>
            <IconButton size="dense" label={`Edit ${policy.name}`} onClick={() => onEdit(policy)}>
              <Pencil aria-hidden="true" className="size-3.5" />
            </IconButton>
            <IconButton
              size="dense"
              label={`Drop ${policy.name}`}
              disabled={reason !== undefined}
              title={reason ?? `Drop ${policy.name}`}
              onClick={() =>
                onChange({
                  title: `Drop policy ${policy.name}`,
                  sql: dropPolicy(policy),
                })
              }
            >
              <Trash2 aria-hidden="true" className="size-3.5" />
            </IconButton>
          </div>
          <Condition word="using" sql={policy.using} />
          <Condition word="with check" sql={policy.check} />
        </li>
      ))}
    </ul>
  );
}

function Condition({ word, sql }: { word: string; sql: string }) {
  if (sql === "") return null;
  return (
    <p className="border-line-soft border-t px-3 py-1.5 font-mono text-caption">
      <span className="text-ink-soft">{word} </span>
      <span className="break-words">
        <Text multiline>{sql}</Text>
      </span>
    </p>
  );
}

interface NewPolicyMenuProps {
  table: Table;
  reason: string | undefined;
  onChoose: (draft: PolicyDraft) => void;
}

export function NewPolicyMenu({ table, reason, onChoose }: NewPolicyMenuProps) {
  const name = { schema: table.schema, name: table.name };
  const owner = guessOwnerColumn(table.columns);
  const empty: PolicyDraft = {
    table: name,
    name: "",
    command: "select",
    isPermissive: true,
    roles: ["authenticated"],
    using: "",
    check: "",
  };
  return (
    <Menu
      label="New policy"
      trigger={
        <Button size="dense" variant={table.rls ? "primary" : "secondary"} title={reason}>
          <Plus aria-hidden="true" className="size-3.5" />
          New policy
        </Button>
      }
    >
      <MenuItem onSelect={() => onChoose(empty)}>Empty policy</MenuItem>
      <MenuSeparator />
      <MenuHeading>Templates</MenuHeading>
      {policyTemplates.map(({ title, explanation, draft }) => (
        <MenuItem key={title} onSelect={() => onChoose(draft(name, owner))}>
          <span>
            {title}
            <span className="block text-ink-soft text-label">{explanation}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
