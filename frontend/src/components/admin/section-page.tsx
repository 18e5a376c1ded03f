import { Button } from "@ui/button";
import { Plus } from "lucide-react";
import type { ReactNode } from "react";
import { SearchField } from "@/components/search-field";
import { pageTitle } from "@/lib/product";
import { useShortcut } from "@/lib/use-shortcut";

interface SectionPageProps {
  title: string;
  query: string;
  onSearch: (term: string) => void;
  searchPlaceholder: string;
  /** Label of the button that adds a row; the key `n` presses it. */
  addLabel?: string;
  onAdd?: () => void;
  /** Import and export of files, beside the heading: the line of the search box is full where there are filters. */
  files?: ReactNode;
  /** Filters, after the search box. */
  controls?: ReactNode;
  /** Between the heading and the search box. */
  before?: ReactNode;
  children: ReactNode;
}

function ignoreKey() {}

/** A section of the admin area: heading, search, what can be added, and its table. */
export function SectionPage({
  title,
  query,
  onSearch,
  searchPlaceholder,
  addLabel,
  onAdd,
  files,
  controls,
  before,
  children,
}: SectionPageProps) {
  useShortcut("n", onAdd ?? ignoreKey);
  return (
    <>
      <title>{pageTitle(`${title}, Admin`)}</title>
      <div className="flex min-h-11 flex-wrap items-center justify-between gap-3">
        <h1 className="font-serif text-heading">{title}</h1>
        <div className="flex gap-2">
          {files}
          {addLabel !== undefined && (
            <Button variant="primary" onClick={onAdd} aria-keyshortcuts="n">
              <Plus aria-hidden="true" className="size-4" />
              {addLabel}
            </Button>
          )}
        </div>
      </div>
      {before}
      <div className="mt-4 mb-3 flex flex-wrap items-center gap-2">
        <SearchField
          query={query}
          onSearch={onSearch}
          label={searchPlaceholder.replace(/\.+$/, "")}
          placeholder={searchPlaceholder}
          className="w-full sm:w-auto sm:max-w-88 sm:flex-1 sm:basis-64"
        />
        {controls !== undefined && (
          // In one line on phones, where each line of controls takes a row of the table away.
          <div className="gap-2 max-sm:swipe-line sm:contents">{controls}</div>
        )}
      </div>
      {children}
    </>
  );
}
