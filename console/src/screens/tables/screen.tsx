import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Table2, Upload } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { catalogQuery, useCatalog } from "@/api/catalog";
import type { Catalog, Table } from "@/api/catalog-model";
import { useSession, whyNoSchemaChanges, whyReadOnly } from "@/api/session";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Kbd } from "@/components/kbd";
import { ScreenFrame, WorkArea } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { localStore } from "@/lib/browser-storage";
import { useSearchState } from "@/lib/use-search-state";
import { StagedBar } from "@/screens/tables/staged/staged-bar";
import { useStaging } from "@/screens/tables/staged/use-staging";
import { TableList } from "@/screens/tables/table-list";
import { TableWork } from "@/screens/tables/table-work";
import { ImportIntoNewTable } from "@/screens/tables/transfer/import/into-new-table";

const isPublic = ({ schema }: Table) => schema === "public";

const schemaKey = "console:tables-schema";

function findTable(catalog: Catalog | undefined, path: string): Table | undefined {
  const [schema, name] = path.split("/").map(decodeURIComponent);
  return catalog?.tables.find((table) => table.schema === schema && table.name === name);
}

/** The table editor: the list of tables, and the rows of the opened one. */
export function Screen() {
  const path = useParams()["*"] ?? "";
  const navigate = useNavigate();
  const catalog = useCatalog();
  const { error, refetch } = useQuery(catalogQuery);
  const [search, change] = useSearchState();
  const session = useSession();
  const noNewTable =
    whyNoSchemaChanges(session) ??
    (session.migrations === false ? session.reasons?.migrations : undefined);
  const table = findTable(catalog, path);
  const [chosen, setChosen] = useState(() => localStore.get(schemaKey) ?? "public");
  const schema = catalog?.schemas.some(({ name }) => name === chosen) === false ? "public" : chosen;
  const openSchema = (name: string) => {
    setChosen(name);
    localStore.set(schemaKey, name);
  };
  // A link into another schema shows that schema's tables, until one is chosen from the list.
  const [shownFor, setShownFor] = useState("");
  if (table !== undefined && shownFor !== path) {
    setShownFor(path);
    if (table.schema !== schema) openSchema(table.schema);
  }
  const staging = useStaging();
  // Phones show either the list or the work area, and the error is in the work area.
  const isListShown = path === "" && (catalog !== undefined || error === null);
  const backToList = () => void navigate("/tables");
  return (
    <ScreenFrame
      list={{
        label: "Tables",
        content: (
          <TableList catalog={catalog} current={table} schema={schema} onSchema={openSchema} />
        ),
      }}
      isListShown={isListShown}
      footer={
        catalog !== undefined && (
          <StagedBar staging={staging} catalog={catalog} disabledReason={whyReadOnly(session)} />
        )
      }
    >
      {catalog !== undefined && table !== undefined ? (
        <TableWork
          key={table.oid}
          table={table}
          catalog={catalog}
          staging={staging}
          onBack={backToList}
        />
      ) : (
        <WorkArea
          title="Tables"
          listHeading={isListShown ? "Tables" : undefined}
          onBack={path === "" ? undefined : backToList}
          actions={
            <Button
              size="dense"
              disabled={catalog === undefined || noNewTable !== undefined}
              title={noNewTable}
              onClick={() => change({ import: "1" })}
            >
              <Upload aria-hidden="true" className="size-3.5" />
              Import a file
            </Button>
          }
        >
          {catalog === undefined && error !== null ? (
            <ErrorState
              title="The tables could not be read"
              error={error}
              onRetry={() => void refetch()}
            />
          ) : catalog === undefined ? (
            <SkeletonRows label="Loading the tables" />
          ) : path === "" ? (
            <NoTableOpen catalog={catalog} />
          ) : (
            <EmptyState
              icon={Table2}
              title="There is no such table"
              text="It was dropped or renamed, or your account cannot see it. Staged changes of it are kept until you discard them."
            />
          )}
          {search.get("import") === "1" && catalog !== undefined && (
            <ImportIntoNewTable
              taken={catalog.tables.filter(isPublic).map(({ name }) => name)}
              onClose={() => change({ import: null }, { replace: true })}
            />
          )}
        </WorkArea>
      )}
    </ScreenFrame>
  );
}

function NoTableOpen({ catalog }: { catalog: Catalog }) {
  const navigate = useNavigate();
  const hasTables = catalog.tables.some(isPublic);
  if (hasTables) {
    return (
      <EmptyState
        icon={Table2}
        title="Choose a table"
        text={
          <span className="inline-flex items-center gap-1.5">
            or find one by name <Kbd keys="mod+k" />
          </span>
        }
      />
    );
  }
  return (
    <EmptyState
      icon={Table2}
      title="No tables yet"
      text="A table gets its own API, policies and types as soon as it is there."
      action={
        <Button
          size="dense"
          variant="primary"
          onClick={() => void navigate("/schema/tables?new=1")}
        >
          Make a table
        </Button>
      }
    />
  );
}
