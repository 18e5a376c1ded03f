/** A matrix of roles, tables and the operations that each role may run. */
import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { FlaskConical, ShieldCheck } from "lucide-react";
import { Link, useNavigate } from "react-router";
import { CheckboxField } from "@/components/checkbox-field";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Input, Select } from "@/components/input";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { plural } from "@/lib/format";
import { useSearchParams } from "@/lib/use-search-params";
import { filterTables, orderRoles } from "./access-matrix";
import { MatrixLegend, MatrixView } from "./matrix-view";
import { accessQuery } from "./queries";

export function MatrixScreen() {
  const access = useQuery(accessQuery);
  const navigate = useNavigate();
  const [params, setParams] = useSearchParams();
  const filter = {
    search: params.get("q") ?? "",
    schema: params.get("schema") ?? "",
    onlyOpen: params.get("open") === "1",
  };
  const setParam = (name: string, value: string) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  const tables = access.data === undefined ? [] : filterTables(access.data, filter);
  const schemas = [...new Set(access.data?.tables.map(({ schema }) => schema))].sort();
  return (
    <ScreenLayout
      title="Policies"
      detail={access.data === undefined ? undefined : plural(tables.length, "table")}
      actions={
        <Button size="dense" asChild>
          <Link to="/policies/simulator">
            <FlaskConical aria-hidden="true" className="size-3.5" />
            Simulate a request
          </Link>
        </Button>
      }
      scrolls={false}
    >
      <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <Input
          data-search=""
          type="search"
          aria-label="Search tables"
          placeholder="Search tables"
          className="min-w-36 flex-1 md:max-w-56"
          value={filter.search}
          onChange={(event) => setParam("q", event.target.value)}
        />
        <Select
          aria-label="Schema"
          className="w-36"
          value={filter.schema}
          onChange={(event) => setParam("schema", event.target.value)}
        >
          <option value="">All schemas</option>
          {schemas.map((schema) => (
            <option key={schema}>{schema}</option>
          ))}
        </Select>
        <CheckboxField
          label="Open tables only"
          checked={filter.onlyOpen}
          onChange={(checked) => setParam("open", checked ? "1" : "")}
        />
        <div className="max-xl:w-full xl:ml-auto">
          <MatrixLegend />
        </div>
      </div>
      <StaleNotice query={access} />
      {access.isPending ? (
        <SkeletonRows rows={10} label="Loading the access of roles" />
      ) : access.isLoadingError ? (
        <ErrorState
          title="The access of roles could not be read"
          error={access.error}
          onRetry={() => void access.refetch()}
        />
      ) : tables.length === 0 ? (
        <EmptyState
          icon={ShieldCheck}
          title={
            access.data.tables.length === 0 ? "There is no table yet" : "No table passes the filter"
          }
          {...(access.data.tables.length === 0 && {
            action: (
              <Button size="dense" variant="primary" asChild>
                <Link to="/schema/tables?new=1">New table</Link>
              </Button>
            ),
          })}
        />
      ) : (
        <MatrixView
          tables={tables}
          roles={orderRoles(access.data.roles)}
          selected={null}
          onSelect={(oid, role) => {
            const as = role === "anon" || role === "service_role" ? `?as=${role}` : "";
            void navigate(`/policies/${oid}${as}`);
          }}
        />
      )}
    </ScreenLayout>
  );
}
