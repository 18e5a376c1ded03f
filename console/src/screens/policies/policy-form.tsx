/** The editor of one policy. Its draft goes to the simulator while it is written. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { SavingEditor, SavingFields } from "@ui/saving-fields";
import { FlaskConical } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Table } from "@/api/catalog-model";
import { objectsQuery, type SchemaObject } from "@/api/objects";
import { CheckboxField } from "@/components/checkbox-field";
import { CodeBlock } from "@/components/code-block";
import { CollisionNotice } from "@/components/collision-notice";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { LazySqlEditor } from "@/components/sql-editor/lazy-sql-editor";
import { Text } from "@/components/text";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import {
  alterPolicy,
  createPolicy,
  hasCheck,
  hasUsing,
  type PolicyDraft,
  policyCommands,
} from "@/lib/sql/ddl/policies";
import { type EditedPolicy, toDraft } from "./queries";

interface PolicyFormProps {
  table: Table;
  edited: EditedPolicy;
  reason: string | undefined;
  /** Called with what is filled in, which the simulator takes. */
  onDraft: (draft: PolicyDraft) => void;
  onSave: (sql: string, title: string) => void;
  onSimulate: () => void;
  onCancel: () => void;
}

/** The form's state. Its base is the policy as it was when the edit began; before it is saved, the present one is read. */
function usePolicyForm({ edited, onDraft, onSave }: PolicyFormProps) {
  const [begun] = useState(edited);
  const { before } = begun;
  const client = useQueryClient();
  const query = objectsQuery("policies", begun.draft.table.schema);
  const find = (policies: readonly SchemaObject[] | undefined): PolicyDraft | undefined =>
    policies
      ?.filter((one) => one.table === begun.draft.table.name && one.name === before?.name)
      .map(toDraft)[0];
  const listed = useQuery({ ...query, enabled: before !== null }).data;
  const present = find(listed);
  const isGone = before !== null && listed !== undefined && present === undefined;
  const describe = (draft: PolicyDraft, saved: PolicyDraft) =>
    before === null ? createPolicy(draft) : alterPolicy(saved, draft);
  const saved = present ?? before ?? begun.draft;
  const form = useDraftForm<PolicyDraft>({
    saved,
    ...(before !== null && {
      read: async () => {
        const now = find(await client.fetchQuery({ ...query, staleTime: 0 }));
        if (now === undefined) throw new Error(goneText(before));
        return now;
      },
    }),
    isNew: before === null,
    findProblem: ({ name, using, check }) => {
      if (isGone) return goneText(before);
      if (name.trim() === "") return "Name the policy.";
      return findExpressionFault(using) ?? findExpressionFault(check);
    },
    onSubmit: (draft, theirs) => {
      const verb = before === null ? "Create" : "Change";
      onSave(describe(draft, theirs), `${verb} policy ${draft.name} on ${draft.table.name}`);
    },
  });
  const tell = useEffectEvent(onDraft);
  const text = JSON.stringify(form.draft);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft is another object with every rendering.
  useEffect(() => tell(form.draft), [text]);
  return {
    ...form,
    before,
    sql: form.problem === null ? describe(form.merged, saved) : "",
    isGone,
  };
}

const goneText = ({ name }: PolicyDraft) => `The policy “${name}” does not exist any more.`;

export function PolicyForm(props: PolicyFormProps) {
  const { reason, onSimulate, onCancel } = props;
  const form = usePolicyForm(props);
  const { before, draft, sql } = form;
  const change = (changes: Partial<PolicyDraft>) => form.change(clean({ ...draft, ...changes }));
  const usingFault = findExpressionFault(draft.using);
  const checkFault = findExpressionFault(draft.check);
  const isReady = sql !== "" && reason === undefined;
  return (
    <form
      noValidate
      className="space-y-4"
      onSubmit={(event) => {
        if (isReady) void form.submit(event);
        else event.preventDefault();
      }}
    >
      <h2 className="font-medium text-small">{before === null ? "New policy" : "Edit policy"}</h2>
      <SavingFields isSaving={form.isSaving} className="space-y-4">
        <Field label="Name">
          {(attributes) => (
            <Input
              {...attributes}
              autoFocus
              required
              value={draft.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <div className="grid grid-cols-2 gap-3">
          <Field label="For">
            {(attributes) => (
              <Select
                {...attributes}
                value={draft.command}
                onChange={(event) => {
                  const command = policyCommands.find((each) => each === event.target.value);
                  if (command !== undefined) change({ command });
                }}
              >
                {policyCommands.map((command) => (
                  <option key={command} value={command}>
                    {command.toUpperCase()}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Kind">
            {(attributes) => (
              <Select
                {...attributes}
                value={draft.isPermissive ? "permissive" : "restrictive"}
                onChange={(event) => change({ isPermissive: event.target.value === "permissive" })}
              >
                <option value="permissive">permissive: one of them suffices</option>
                <option value="restrictive">restrictive: each has to pass</option>
              </Select>
            )}
          </Field>
        </div>
        <RoleChoice roles={draft.roles} onChange={(roles) => change({ roles })} />
        {hasUsing(draft.command) && (
          <Expression
            label="Using"
            hint="Rows that exist are reached where this is true."
            value={draft.using}
            error={usingFault}
            isSaving={form.isSaving}
            onChange={(using) => change({ using })}
          />
        )}
        {hasCheck(draft.command) && (
          <Expression
            label="With check"
            hint={
              draft.command === "insert"
                ? "New rows are accepted where this is true."
                : "Written rows are accepted where this is true; empty takes Using."
            }
            value={draft.check}
            error={checkFault}
            isSaving={form.isSaving}
            onChange={(check) => change({ check })}
          />
        )}
      </SavingFields>
      {form.isGone && before !== null && (
        <p role="alert" className="text-caption text-danger">
          {goneText(before)}
        </p>
      )}
      {form.collision !== null && (
        <CollisionNotice
          conflicts={form.collision.conflicts}
          others={form.collision.others}
          keepLabel="Keep mine"
          onKeepMine={form.keepMine}
          onTakeTheirs={form.takeTheirs}
        />
      )}
      {form.error !== null && (
        <ErrorNotice title="The policy could not be read" error={form.error} />
      )}
      {sql !== "" && <CodeBlock code={sql} label="SQL of the policy" />}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          size="dense"
          variant="primary"
          disabled={!isReady}
          pending={form.isSaving}
          title={reason}
        >
          Save as migration
        </Button>
        <Button size="dense" className="xl:hidden" onClick={onSimulate}>
          <FlaskConical aria-hidden="true" className="size-3.5" />
          Simulate it
        </Button>
        <Button size="dense" variant="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
      {reason !== undefined && <p className="text-caption text-warning">{reason}</p>}
    </form>
  );
}

/** A condition that the command does not take would be refused; it is dropped when the command changes. */
function clean(draft: PolicyDraft): PolicyDraft {
  return {
    ...draft,
    using: hasUsing(draft.command) ? draft.using : "",
    check: hasCheck(draft.command) ? draft.check : "",
  };
}

interface ExpressionProps {
  label: string;
  hint: string;
  value: string;
  error: string | null;
  isSaving: boolean;
  onChange: (value: string) => void;
}

function Expression({ label, hint, value, error, isSaving, onChange }: ExpressionProps) {
  return (
    <Field label={label} hint={hint} error={error ?? undefined}>
      {() => (
        <SavingEditor isSaving={isSaving}>
          <LazySqlEditor
            field
            label={label}
            value={value}
            onChange={onChange}
            placeholder="(select auth.uid()) = user_id"
          />
        </SavingEditor>
      )}
    </Field>
  );
}

interface RoleChoiceProps {
  roles: readonly string[];
  onChange: (roles: string[]) => void;
}

/** Roles that policies are usually about; the others can be added by name. */
const usualRoles = ["anon", "authenticated"];

function RoleChoice({ roles, onChange }: RoleChoiceProps) {
  const known = useCatalog()?.roles.map(({ name }) => name) ?? [];
  const isEveryone = roles.length === 0 || roles.includes("public");
  const shown = [...new Set([...usualRoles, ...roles.filter((role) => role !== "public")])];
  const others = known.filter((role) => !shown.includes(role) && !role.startsWith("pg_"));
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-caption">Roles</legend>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <CheckboxField
          label="public"
          checked={isEveryone}
          onChange={(checked) => onChange(checked ? ["public"] : ["authenticated"])}
        />
        {shown.map((role) => (
          <CheckboxField
            key={role}
            label={<Text>{role}</Text>}
            checked={!isEveryone && roles.includes(role)}
            onChange={(checked) => {
              const named = roles.filter((each) => each !== "public" && each !== role);
              onChange(checked ? [...named, role] : named);
            }}
          />
        ))}
        {others.length > 0 && (
          <Select
            aria-label="Another role"
            className="w-36"
            value=""
            onChange={(event) => {
              const role = event.target.value;
              if (role !== "") onChange([...roles.filter((each) => each !== "public"), role]);
            }}
          >
            <option value="">Another role…</option>
            {others.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </Select>
        )}
      </div>
    </fieldset>
  );
}
