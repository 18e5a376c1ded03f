/** The side panel of an object: what makes it again, what depends on it, and what can be done with it. */
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Link } from "react-router";
import { type ObjectDescription, objectQuery } from "@/api/objects";
import { CodeBlock } from "@/components/code-block";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { dropObject } from "@/lib/sql/ddl/drop";
import { quoteIdentifier } from "@/lib/sql/quote";
import type { SchemaChange } from "./forms/form-dialog";
import { describedAs, type ObjectRow, type SchemaKind } from "./object-rows";

interface ObjectPanelProps {
  kind: SchemaKind;
  row: ObjectRow;
  /** The reason why changes are disabled; undefined when they are enabled. */
  reason: string | undefined;
  /** Opens the form of the object; absent for kinds without one. */
  onEdit: (() => void) | undefined;
  onAddColumn: (() => void) | undefined;
  onChange: (change: SchemaChange) => void;
}

export function ObjectPanel(props: ObjectPanelProps) {
  const { kind, row, reason, onEdit, onAddColumn, onChange } = props;
  const described = describedAs(kind, row);
  const object = useQuery({
    ...objectQuery(described.kind, described.oid),
    enabled: described.oid !== "",
  });
  const singular = kind
    .replace(/ies$/, "y")
    .replace(/(?<=index)es$/, "")
    .replace(/s$/, "");
  const isInstalled = kind !== "extensions" || described.oid !== "";
  return (
    <div className="space-y-5 p-4">
      <div className="flex flex-wrap gap-2">
        {onEdit !== undefined && (
          <Button size="dense" onClick={onEdit} disabled={reason !== undefined} title={reason}>
            Edit
          </Button>
        )}
        {onAddColumn !== undefined && (
          <Button size="dense" onClick={onAddColumn} disabled={reason !== undefined} title={reason}>
            Add a column
          </Button>
        )}
        {kind === "tables" && (
          <>
            <Button size="dense" asChild>
              <Link
                to={`/tables/${encodeURIComponent(row.schema)}/${encodeURIComponent(row.name)}`}
              >
                Rows
              </Link>
            </Button>
            <Button size="dense" asChild>
              <Link to={`/policies/${row.id}`}>Policies</Link>
            </Button>
          </>
        )}
        {onEdit === undefined && isInstalled && kind !== "tables" && kind !== "grants" && (
          <Button
            size="dense"
            disabled={reason !== undefined || object.data === undefined}
            title={reason}
            onClick={() =>
              onChange({
                title: `Change ${singular} ${row.name}`,
                sql: object.data?.definition ?? "",
              })
            }
          >
            Change with SQL
          </Button>
        )}
        {isInstalled ? (
          <Button
            size="dense"
            variant="danger"
            disabled={reason !== undefined}
            title={reason}
            onClick={() =>
              onChange({
                title: `${kind === "grants" ? "Revoke" : "Drop"} ${singular} ${row.name}`,
                sql: dropObject(row.dropped),
              })
            }
          >
            {kind === "grants" ? "Revoke" : "Drop"}
          </Button>
        ) : (
          <Button
            size="dense"
            variant="primary"
            disabled={reason !== undefined}
            title={reason}
            onClick={() =>
              onChange({
                title: `Install extension ${row.name}`,
                sql: `create extension ${quoteIdentifier(row.name)} with schema extensions;`,
              })
            }
          >
            Install
          </Button>
        )}
      </div>
      {reason !== undefined && <p className="text-caption text-warning">{reason}</p>}
      {isInstalled && <Description object={object} isColumn={kind === "columns"} />}
    </div>
  );
}

interface DescriptionProps {
  object: UseQueryResult<ObjectDescription>;
  isColumn: boolean;
}

function Description({ object, isColumn }: DescriptionProps) {
  if (object.isPending) return <SkeletonRows rows={5} label="Loading the definition" />;
  if (object.isLoadingError) {
    return (
      <ErrorNotice
        title="The definition could not be read"
        error={object.error}
        onRetry={() => void object.refetch()}
      />
    );
  }
  const { definition, dependants } = object.data;
  return (
    <>
      <StaleNotice query={object} />
      <section>
        <h3 className="mb-1.5 font-medium text-caption">
          {isColumn ? "Definition of its table" : "Definition"}
        </h3>
        <CodeBlock code={definition} label="Definition" />
      </section>
      <section>
        <h3 className="mb-1.5 font-medium text-caption">
          {isColumn ? "What depends on its table" : "What depends on it"}
        </h3>
        {dependants.length === 0 ? (
          <p className="text-caption text-ink-soft">Nothing.</p>
        ) : (
          <ul className="space-y-1 text-caption">
            {dependants.map(({ kind, name, oid, how }) => (
              <li key={`${kind} ${oid} ${name}`} className="flex gap-2">
                <span className="shrink-0 text-ink-soft">{kind}</span>
                <span className="min-w-0 flex-1 break-words">
                  <Text>{name}</Text>
                </span>
                {how !== "normal" && <span className="text-ink-soft text-label">{how}</span>}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
