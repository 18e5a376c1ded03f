import { useQuery } from "@tanstack/react-query";
import { HardDrive } from "lucide-react";
import { Link } from "react-router";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { formatBytes, formatCompact } from "@/lib/format";
import { sizesQuery, type TableSize } from "./api";
import { cardClasses, Section } from "./section";

/** How much room the project takes, and which tables take most of it. */
export function SizesSection() {
  const sizes = useQuery(sizesQuery);
  return (
    <Section
      title="Sizes"
      detail={
        sizes.isSuccess
          ? `database ${formatBytes(sizes.data.database_bytes)}${
              sizes.data.storage_bytes === null
                ? ""
                : `, files ${formatBytes(sizes.data.storage_bytes)}`
            }`
          : undefined
      }
    >
      <StaleNotice query={sizes} />
      {sizes.isPending ? (
        <SkeletonRows rows={6} />
      ) : sizes.isLoadingError ? (
        <ErrorNotice
          title="The sizes could not be loaded"
          error={sizes.error}
          onRetry={() => sizes.refetch()}
        />
      ) : sizes.data.tables.length === 0 ? (
        <div className={cardClasses}>
          <EmptyState icon={HardDrive} title="There are no tables yet." />
        </div>
      ) : (
        <ul className={`${cardClasses} divide-y divide-line-soft`}>
          {sizes.data.tables
            .toSorted((one, other) => wholeSize(other) - wholeSize(one))
            .slice(0, 20)
            .map((table) => (
              <SizeLine
                key={`${table.schema}.${table.name}`}
                table={table}
                largest={Math.max(1, ...sizes.data.tables.map(wholeSize))}
              />
            ))}
        </ul>
      )}
    </Section>
  );
}

/** The table with its indexes, which is what the disk holds of it. */
function wholeSize({ bytes, index_bytes: indexBytes }: TableSize): number {
  return (bytes ?? 0) + (indexBytes ?? 0);
}

function SizeLine({ table, largest }: { table: TableSize; largest: number }) {
  const { schema, name, bytes, index_bytes: indexBytes, rows } = table;
  const size = wholeSize(table);
  return (
    <li className="relative flex items-center gap-3 px-4 py-1.5 text-caption">
      <span
        aria-hidden="true"
        className="absolute inset-y-0 left-0 bg-hover"
        style={{ width: `${(size / largest) * 100}%` }}
      />
      <Link
        to={`/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`}
        className="relative min-w-0 flex-1 truncate hover:underline"
      >
        {schema !== "public" && (
          <span className="text-ink-soft">
            <Text>{schema}</Text>.
          </span>
        )}
        <Text>{name}</Text>
      </Link>
      {rows !== null && (
        <span className="relative text-ink-soft max-md:hidden">
          ≈ {formatCompact(Math.max(0, rows))} rows
        </span>
      )}
      <span
        className="relative w-20 text-right tabular-nums"
        title={
          bytes === null || indexBytes === null
            ? "Other nodes store rows of this table, so its size is unknown here."
            : `rows ${formatBytes(bytes)}, indexes ${formatBytes(indexBytes)}`
        }
      >
        {bytes === null ? "?" : formatBytes(size)}
      </span>
    </li>
  );
}
