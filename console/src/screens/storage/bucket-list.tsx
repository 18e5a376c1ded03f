import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Database, Globe, Lock, Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { SearchInput } from "@/components/search-input";
import { Text } from "@/components/text";
import type { Bucket } from "./api";

interface BucketListProps {
  buckets: readonly Bucket[];
  open: string | null;
  /** Why no bucket can be made, or undefined. */
  refusal: string | undefined;
  onCreate: () => void;
}

/** The buckets at the left; more than ten can be searched. */
export function BucketList({ buckets, open, refusal, onCreate }: BucketListProps) {
  const [search, setSearch] = useState("");
  const term = search.toLowerCase();
  const shown = buckets.filter(({ name }) => name.toLowerCase().includes(term));
  return (
    <>
      <header className="flex min-h-11 items-center gap-2 border-line border-b pr-1.5 pl-4">
        <h2 className="flex-1 font-medium text-caption">Buckets</h2>
        <IconButton
          size="dense"
          label={refusal ?? "New bucket"}
          disabled={refusal !== undefined}
          onClick={onCreate}
        >
          <Plus className="size-4" />
        </IconButton>
      </header>
      {buckets.length > 10 && (
        <div className="border-line-soft border-b p-2">
          <SearchInput label="Search buckets" value={search} onChange={setSearch} />
        </div>
      )}
      <ul className="min-h-0 flex-1 overflow-y-auto p-1.5">
        {shown.map((bucket) => (
          <li key={bucket.id}>
            <Link
              to={`?bucket=${encodeURIComponent(bucket.id)}`}
              aria-current={bucket.id === open ? "page" : undefined}
              className={cn(
                "flex h-8 items-center gap-2 rounded-sm px-2.5 text-caption pointer-coarse:h-11",
                bucket.id === open ? "bg-selected" : "hover:bg-hover",
              )}
            >
              <Database aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" />
              <span className="min-w-0 flex-1 truncate">
                <Text>{bucket.name}</Text>
              </span>
              {bucket.public ? (
                <span title="Public: whoever knows a file's address can read it">
                  <Globe aria-label="public" className="size-3.5 text-ink-soft" />
                </span>
              ) : (
                <span title="Private: policies decide who reads">
                  <Lock aria-label="private" className="size-3.5 text-ink-soft" />
                </span>
              )}
            </Link>
          </li>
        ))}
        {shown.length === 0 && buckets.length > 0 && (
          <li className="px-2.5 py-2 text-caption text-ink-soft">No bucket has this name.</li>
        )}
      </ul>
    </>
  );
}
