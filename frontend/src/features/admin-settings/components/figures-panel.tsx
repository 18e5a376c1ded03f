import { useQuery } from "@tanstack/react-query";
import { DetailRow, Details } from "@/components/ui/details";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { type Figures, figuresQuery, formatBytes } from "../api/figures";
import { SettingsPanel } from "./settings-panel";

/** Versions, and how much the database and the buckets hold. */
export function FiguresPanel() {
  const { data, isPending, isError, error, refetch } = useQuery(figuresQuery());
  return (
    <SettingsPanel title="Server">
      {isPending && <Skeleton className="h-48 w-full" />}
      {isError && data === undefined && (
        <ErrorNotice
          title="The figures could not be loaded."
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {data !== undefined && <FigureTables figures={data} />}
    </SettingsPanel>
  );
}

function FigureTables({ figures }: { figures: Figures }) {
  const { server, postgres, migration, database_bytes, tables, buckets } = figures;
  const stored = buckets.reduce((sum, { bytes }) => sum + bytes, 0);
  return (
    <>
      <Details>
        <DetailRow term="Selvedge">{server}</DetailRow>
        <DetailRow term="PostgreSQL">{postgres}</DetailRow>
        <DetailRow term="Migration">{migration ?? "none"}</DetailRow>
        <DetailRow term="Database">{formatBytes(database_bytes)}</DetailRow>
        <DetailRow term="Files">{formatBytes(stored)}</DetailRow>
      </Details>
      <div className="mt-5 grid gap-6 md:grid-cols-2">
        <SizeTable
          caption="Buckets"
          unit="Files"
          rows={buckets.map(({ name, files, bytes }) => ({ name, count: files, bytes }))}
        />
        <SizeTable
          caption="Tables"
          unit="Rows (estimate)"
          rows={tables.map(({ name, rows, bytes }) => ({ name, count: rows, bytes }))}
        />
      </div>
    </>
  );
}

interface SizeTableProps {
  caption: string;
  /** Heading of the column with the counts. */
  unit: string;
  rows: readonly { name: string; count: number; bytes: number }[];
}

function SizeTable({ caption, unit, rows }: SizeTableProps) {
  return (
    <table className="w-full self-start text-left text-caption">
      <caption className="mb-1 text-left font-medium text-ink text-small">{caption}</caption>
      <thead>
        <tr className="text-ink-soft">
          <th scope="col" className="py-1 font-medium">
            Name
          </th>
          <th scope="col" className="py-1 text-right font-medium">
            {unit}
          </th>
          <th scope="col" className="w-20 py-1 text-right font-medium">
            Size
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, count, bytes }) => (
          <tr key={name} className="border-line border-t">
            <th scope="row" className="py-1 font-normal [overflow-wrap:anywhere]">
              {name}
            </th>
            <td className="py-1 text-right tabular-nums">{count.toLocaleString("en-US")}</td>
            <td className="py-1 text-right tabular-nums">{formatBytes(bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
