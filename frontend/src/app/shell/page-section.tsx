import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { ArrowRight } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Link } from "react-router";
import type { CardShape } from "@/components/ui/card-columns";
import { CardRow, CardRowSkeleton } from "@/components/ui/card-row";
import { useWithoutBlocked } from "@/lib/blocked-people";

interface PageSectionProps {
  title: string;
  /** One sentence below the title: why this is shown. */
  text?: string;
  /** Link beside the title, or on phones beside the sentence, to all of what the section shows a part of. */
  more?: { to: string; label: string } | undefined;
  /** Element id, for links within the page. */
  anchor?: string;
  children: ReactNode;
}

/** A titled part of a reading page. */
export function PageSection({ title, text, more, anchor, children }: PageSectionProps) {
  const titleId = useId();
  return (
    <section id={anchor} aria-labelledby={titleId} className="mt-20 scroll-mt-24 max-md:mt-14">
      <div className="mb-6 flex flex-wrap items-baseline justify-between gap-x-8 gap-y-1 max-md:gap-x-4">
        <h2
          id={titleId}
          className={cn(
            "font-serif text-heading",
            text !== undefined && "max-md:-order-2 max-md:w-full",
          )}
        >
          {title}
        </h2>
        {more !== undefined && (
          <Link
            to={more.to}
            className="inline-flex min-h-6 items-center gap-1.5 text-ink-soft text-small hover:text-ink pointer-coarse:min-h-11"
          >
            {more.label}
            <ArrowRight aria-hidden="true" className="size-4" strokeWidth={1.6} />
          </Link>
        )}
        {/* On phones the link stands beside it: a title is often too long for that. */}
        {text !== undefined && (
          <p className="w-full text-ink-soft text-small max-md:-order-1 max-md:w-auto max-md:flex-1">
            {text}
          </p>
        )}
      </div>
      {children}
    </section>
  );
}

interface RowSectionProps<Row extends { id: string }> extends Omit<PageSectionProps, "children"> {
  list: {
    data: readonly Row[] | undefined;
    isError: boolean;
    refetch: () => unknown;
  };
  /** Shape of the cards that are being loaded. */
  shape: CardShape;
  lineCount?: 1 | 2;
  children: (row: Row) => ReactNode;
}

/**
 * A section with the first cards of a list. Nothing is shown for an empty list, because the section only offers
 * further reading.
 */
export function RowSection<Row extends { id: string }>({
  list,
  shape,
  lineCount = 1,
  children,
  ...section
}: RowSectionProps<Row>) {
  const data = useWithoutBlocked(list.data);
  if (data?.length === 0) return null;
  return (
    <PageSection {...section}>
      {data !== undefined ? (
        <CardRow rows={data} label={section.title} lineCount={lineCount}>
          {children}
        </CardRow>
      ) : list.isError ? (
        <div role="alert" className="flex flex-wrap items-center gap-4">
          <p className="text-ink-soft text-small">These could not be loaded.</p>
          <Button onClick={() => list.refetch()}>Try again</Button>
        </div>
      ) : (
        <CardRowSkeleton label={`Loading: ${section.title}`} shape={shape} />
      )}
    </PageSection>
  );
}
