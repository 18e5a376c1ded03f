/** The menu of objects that can be created on a tab, by a form or from an SQL template. */
import { Button } from "@ui/button";
import { Plus } from "lucide-react";
import { useNavigate } from "react-router";
import { Menu, MenuItem } from "@/components/menu";
import { sqlTemplates } from "@/lib/sql/ddl/templates";
import type { SchemaChange } from "./forms/form-dialog";
import type { SchemaKind } from "./object-rows";
import type { OpenForm } from "./schema-form";

interface NewMenuProps {
  kind: SchemaKind;
  reason: string | undefined;
  onForm: (form: OpenForm) => void;
  onTemplate: (change: SchemaChange) => void;
}

const forms: Partial<Record<SchemaKind, { label: string; open: OpenForm }>> = {
  tables: { label: "New table", open: { form: "table" } },
  columns: { label: "New column", open: { form: "column", table: null, column: null } },
  constraints: { label: "New constraint", open: { form: "constraint" } },
  indexes: { label: "New index", open: { form: "index" } },
  types: { label: "New enum", open: { form: "enum", type: null } },
};

export function NewMenu({ kind, reason, onForm, onTemplate }: NewMenuProps) {
  const navigate = useNavigate();
  const form = forms[kind];
  const templates = sqlTemplates[kind] ?? [];
  if (form !== undefined && templates.length === 0) {
    return (
      <Button
        size="dense"
        variant="primary"
        disabled={reason !== undefined}
        title={reason}
        onClick={() => onForm(form.open)}
      >
        <Plus aria-hidden="true" className="size-3.5" />
        {form.label}
      </Button>
    );
  }
  return (
    <Menu
      label="New"
      trigger={
        <Button size="dense" variant="primary" disabled={reason !== undefined} title={reason}>
          <Plus aria-hidden="true" className="size-3.5" />
          New
        </Button>
      }
    >
      {form !== undefined && <MenuItem onSelect={() => onForm(form.open)}>{form.label}</MenuItem>}
      {templates.map(({ title, sql }) => (
        <MenuItem key={title} onSelect={() => onTemplate({ title, sql })}>
          {title}…
        </MenuItem>
      ))}
      <MenuItem onSelect={() => void navigate("/sql")}>Write SQL</MenuItem>
    </Menu>
  );
}
