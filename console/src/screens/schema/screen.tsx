/** The schema: objects of every kind, and changes of them as migration files (CONSOLE-070 to 073). */
import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Plus, Shapes } from "lucide-react";
import { useDeferredValue, useMemo, useState } from "react";
import { Navigate, Route, Routes, useNavigate, useParams } from "react-router";
import { catalogQuery, useCatalog } from "@/api/catalog";
import { platformSchemas } from "@/api/catalog-model";
import { objectsQuery } from "@/api/objects";
import { useSession, whyNoSchemaChanges } from "@/api/session";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Input, Select } from "@/components/input";
import { MigrationDialog } from "@/components/migration-dialog";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { plural } from "@/lib/format";
import { useSearchParams } from "@/lib/use-search-params";
import type { SchemaChange } from "./forms/form-dialog";
import { NewMenu } from "./new-menu";
import { ObjectList } from "./object-list";
import { ObjectPanel } from "./object-panel";
import {
  columnRows,
  filterRows,
  headersOf,
  isGlobal,
  isSchemaKind,
  type ObjectRow,
  objectRows,
  type SchemaKind,
  schemaKinds,
  tableRows,
  whyNotChangeable,
} from "./object-rows";
import { type OpenForm, SchemaForm } from "./schema-form";

export function Screen() {
  return (
    <Routes>
      <Route index element={<Navigate to="/schema/tables" replace />} />
      <Route path=":kind" element={<KindScreen />} />
    </Routes>
  );
}

function KindScreen() {
  const { kind } = useParams();
  if (!isSchemaKind(kind)) return <Navigate to="/schema/tables" replace />;
  return <Objects key={kind} kind={kind} />;
}

/** The lines of a kind: from the catalog where it has them, else asked for. */
function useObjectRows(kind: SchemaKind) {
  const catalog = useQuery(catalogQuery);
  const isInCatalog = kind === "tables" || kind === "columns";
  const objects = useQuery({
    ...objectsQuery(kind === "columns" ? "tables" : kind, null),
    enabled: !isInCatalog,
  });
  const rows = useMemo(() => {
    if (kind === "tables") return catalog.data && tableRows(catalog.data);
    if (kind === "columns") return catalog.data && columnRows(catalog.data);
    return objects.data && objectRows(kind, objects.data);
  }, [kind, catalog.data, objects.data]);
  return { rows, query: isInCatalog ? catalog : objects };
}

function Objects({ kind }: { kind: SchemaKind }) {
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams();
  const [form, setForm] = useState<OpenForm | null>(
    params.get("new") === "1" && kind === "tables" ? { form: "table" } : null,
  );
  const [change, setChange] = useState<SchemaChange | null>(null);
  const reason = whyNoSchemaChanges(useSession());
  const catalog = useCatalog();
  const { rows, query } = useObjectRows(kind);
  const schemas = [...new Set(rows?.map(({ schema }) => schema))].filter(Boolean).sort(byOwnFirst);
  const hasPublic = schemas.includes("public");
  const schema = isGlobal(kind) ? "" : (params.get("schema") ?? (hasPublic ? "public" : ""));
  const filter = { search: useDeferredValue(params.get("q") ?? ""), schema };
  const shown = rows === undefined ? [] : filterRows(rows, filter);
  const selected = rows?.find(({ id }) => id === params.get("object"));
  const setParam = (name: string, value: string | null) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        next.delete("new");
        if (value === null) next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: name !== "object" },
    );
  return (
    <ScreenLayout
      title="Schema"
      detail={rows === undefined ? undefined : plural(shown.length, "object")}
      actions={<NewMenu kind={kind} reason={reason} onForm={setForm} onTemplate={setChange} />}
      panel={
        selected && {
          label: selected.name,
          onClose: () => setParam("object", null),
          content: (
            <ObjectPanel
              key={selected.id}
              kind={kind}
              row={selected}
              reason={reason ?? whyNotChangeable(catalog, kind, selected)}
              onEdit={editorOf(kind, selected, setForm)}
              onAddColumn={
                kind === "tables" && selected.owner !== null
                  ? () => setForm({ form: "column", table: selected.owner, column: null })
                  : undefined
              }
              onChange={setChange}
            />
          ),
        }
      }
      scrolls={false}
    >
      <Tabs
        label="Kind of object"
        value={kind}
        onChange={(next) => void navigate(`/schema/${next}`)}
        tabs={schemaKinds.map((each) => ({ value: each, label: titleOf(each) }))}
      >
        <div className="flex shrink-0 flex-wrap gap-2 border-line border-b px-3 py-2">
          <Input
            data-search=""
            type="search"
            aria-label={`Search ${kind}`}
            placeholder={`Search ${kind}`}
            className="min-w-36 flex-1 md:max-w-64"
            value={params.get("q") ?? ""}
            onChange={(event) => setParam("q", event.target.value || null)}
          />
          {!isGlobal(kind) && (
            <Select
              aria-label="Schema"
              className="w-40 max-md:w-36"
              value={schema}
              onChange={(event) => setParam("schema", event.target.value)}
            >
              <option value="">All schemas</option>
              {schemas.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </div>
        <StaleNotice query={query} />
        {query.isLoadingError ? (
          <ErrorState
            title={`The ${kind} could not be read`}
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        ) : rows === undefined ? (
          <SkeletonRows rows={12} label={`Loading the ${kind}`} />
        ) : shown.length === 0 ? (
          <NothingThere
            kind={kind}
            isFiltered={rows.length > 0}
            onNew={() => setForm({ form: "table" })}
          />
        ) : (
          <ObjectList
            label={titleOf(kind)}
            headers={headersOf[kind]}
            rows={shown}
            showsSchema={schema === ""}
            selected={selected?.id ?? null}
            onOpen={(row) => setParam("object", row.id)}
          />
        )}
      </Tabs>
      {form !== null && (
        <SchemaForm
          open={form}
          schema={schema}
          onClose={() => setForm(null)}
          onSubmit={(next) => {
            // The form stays beneath, so that closing the preview leads back to it.
            setChange(next);
          }}
        />
      )}
      {change !== null && (
        <MigrationDialog
          title={change.title}
          sql={change.sql}
          onClose={() => setChange(null)}
          onDone={() => {
            setForm(null);
            setParam("object", null);
          }}
        />
      )}
    </ScreenLayout>
  );
}

/** Schemas of the platform stand behind one's own. */
function byOwnFirst(a: string, b: string): number {
  return Number(platformSchemas.has(a)) - Number(platformSchemas.has(b)) || a.localeCompare(b);
}

/** The form of an object, for kinds that have one. */
function editorOf(
  kind: SchemaKind,
  row: ObjectRow,
  open: (form: OpenForm) => void,
): (() => void) | undefined {
  if (kind === "columns" && row.owner !== null) {
    return () => open({ form: "column", table: row.owner, column: row.column });
  }
  if (kind === "types" && row.object?.kind === "enum") {
    return () => open({ form: "enum", type: row.object });
  }
  return undefined;
}

const titleOf = (kind: SchemaKind) => kind.charAt(0).toUpperCase() + kind.slice(1);

interface NothingThereProps {
  kind: SchemaKind;
  isFiltered: boolean;
  onNew: () => void;
}

function NothingThere({ kind, isFiltered, onNew }: NothingThereProps) {
  if (kind === "tables") {
    return (
      <EmptyState
        icon={Shapes}
        title={isFiltered ? "No table here" : "There is no table yet"}
        text="A table comes with a migration file, so that every environment gets it."
        action={
          <Button size="dense" variant="primary" onClick={onNew}>
            <Plus aria-hidden="true" className="size-3.5" />
            New table
          </Button>
        }
      />
    );
  }
  return (
    <EmptyState
      icon={Shapes}
      title={isFiltered ? `None of the ${kind} pass the filter` : `There are no ${kind}`}
    />
  );
}
