/** The API explorer: a form per table and function, the request as curl and supabase-js, and the live response (CONSOLE-100). */
import { Button } from "@ui/button";
import { Plug, Waypoints } from "lucide-react";
import { type ReactNode, useDeferredValue } from "react";
import { Link, useNavigate } from "react-router";
import { useCatalog } from "@/api/catalog";
import type { Catalog } from "@/api/catalog-model";
import { EmptyState } from "@/components/empty-state";
import { Input } from "@/components/input";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { useSearchParams } from "@/lib/use-search-params";
import { ConnectPage } from "./connect-page";
import { FunctionExplorer } from "./function-explorer";
import { TableExplorer } from "./table-explorer";

/**
 * The open table or function is in the query string (`?table=<oid>`, `?function=<oid>`), because paths below `/api/`
 * belong to the console's server: a reload of such a path would not load the page.
 */
export function Screen() {
  const catalog = useCatalog();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const table = catalog?.tablesByOid.get(params.get("table") ?? "");
  const fn = catalog?.functions.find(({ oid }) => oid === params.get("function"));
  const isConnect = !params.has("table") && !params.has("function");
  const title = isConnect ? "Connect" : (table?.name ?? fn?.name ?? "API");
  return (
    <ScreenLayout
      title={<Text>{title}</Text>}
      detail={table !== undefined ? "table" : fn !== undefined ? "function" : undefined}
      list={{ label: "Tables and functions of the API", content: <ApiList catalog={catalog} /> }}
      isObjectOpen={!params.has("list")}
      onBack={() => void navigate("/api?list")}
    >
      {catalog === undefined ? (
        <SkeletonRows label="Loading the API" />
      ) : isConnect ? (
        <ConnectPage />
      ) : table !== undefined ? (
        <TableExplorer key={table.oid} table={table} />
      ) : fn !== undefined ? (
        <FunctionExplorer key={fn.oid} fn={fn} />
      ) : (
        <EmptyState
          icon={Waypoints}
          title="This part of the API is gone"
          action={
            <Button size="dense" asChild>
              <Link to="/api">Connect an app</Link>
            </Button>
          }
        />
      )}
    </ScreenLayout>
  );
}

/** Functions that PostgREST offers: no triggers, which only PostgreSQL can call. */
export function listFunctions(catalog: Catalog): Catalog["functions"] {
  const exposed = new Set(
    catalog.schemas.filter((schema) => schema.exposed).map(({ name }) => name),
  );
  return catalog.functions.filter(
    ({ schema, returns, kind }) =>
      exposed.has(schema) &&
      returns !== "trigger" &&
      !["a", "w", "aggregate", "window"].includes(kind),
  );
}

function ApiList({ catalog }: { catalog: Catalog | undefined }) {
  const [params, setParams] = useSearchParams();
  const search = params.get("q") ?? "";
  const wanted = useDeferredValue(search.toLowerCase());
  if (catalog === undefined) return <SkeletonRows label="Loading the list" />;
  const exposed = new Set(
    catalog.schemas.filter((schema) => schema.exposed).map(({ name }) => name),
  );
  const matches = ({ schema, name }: { schema: string; name: string }) =>
    `${schema}.${name}`.toLowerCase().includes(wanted);
  // Longer lists are cut, because the search finds the rest faster than scrolling does.
  const tables = catalog.tables.filter((table) => exposed.has(table.schema) && matches(table));
  const functions = listFunctions(catalog).filter(matches);
  return (
    <>
      <div className="space-y-1 border-line border-b p-2">
        <Input
          data-search=""
          type="search"
          aria-label="Search tables and functions"
          placeholder="Search"
          value={search}
          onChange={(event) =>
            setParams(
              (before) => {
                const next = new URLSearchParams(before);
                if (event.target.value === "") next.delete("q");
                else next.set("q", event.target.value);
                return next;
              },
              { replace: true },
            )
          }
        />
        <ListLink to="" icon>
          Connect
        </ListLink>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-2">
        <ListGroup title="Tables and views" total={tables.length}>
          {tables.slice(0, listLimit).map(({ oid, schema, name }) => (
            <ListLink key={oid} to={`table=${oid}`}>
              <Text>{schema === "public" ? name : `${schema}.${name}`}</Text>
            </ListLink>
          ))}
        </ListGroup>
        <ListGroup title="Functions" total={functions.length}>
          {functions.slice(0, listLimit).map(({ oid, schema, name }) => (
            <ListLink key={oid} to={`function=${oid}`}>
              <Text>{schema === "public" ? name : `${schema}.${name}`}</Text>
            </ListLink>
          ))}
        </ListGroup>
      </div>
    </>
  );
}

const listLimit = 100;

interface ListGroupProps {
  title: string;
  total: number;
  children: ReactNode;
}

function ListGroup({ title, total, children }: ListGroupProps) {
  return (
    <section className="mb-3">
      <h2 className="px-2 py-1 text-ink-soft text-label">{title}</h2>
      {children}
      {total === 0 && <p className="px-2 py-1 text-caption text-ink-soft">None</p>}
      {total > listLimit && (
        <p className="px-2 py-1 text-ink-soft text-label">
          {total - listLimit} more; search finds them.
        </p>
      )}
    </section>
  );
}

interface ListLinkProps {
  /** The query string that opens it. */
  to: string;
  icon?: boolean;
  children: ReactNode;
}

/** The search stays while one opens what it has found. */
function ListLink({ to, icon = false, children }: ListLinkProps) {
  const [params] = useSearchParams();
  const search = params.get("q");
  const query = new URLSearchParams(to);
  if (search !== null) query.set("q", search);
  const [name = ""] = to.split("=");
  const isCurrent =
    to === ""
      ? !["table", "function"].some((each) => params.has(each))
      : params.get(name) === (query.get(name) ?? "");
  return (
    <Link
      to={`/api?${query}`}
      aria-current={isCurrent ? "page" : undefined}
      className="flex min-h-7 items-center gap-2 truncate rounded-[4px] px-2 text-caption hover:bg-hover aria-[current=page]:bg-selected pointer-coarse:min-h-11"
    >
      {icon && <Plug aria-hidden="true" className="size-3.5 text-ink-soft" />}
      <span className="truncate">{children}</span>
    </Link>
  );
}
