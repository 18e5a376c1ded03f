import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { capitalise } from "@/lib/format";
import type { Outfit } from "../api/outfit";
import { colorsQuery, outfitStylesQuery } from "../api/vocabulary";

/** Gender, styles and colors of an outfit, as a definition list. */
export function OutfitDetails({ outfit }: { outfit: Outfit }) {
  const { data: styleNames } = useQuery(outfitStylesQuery());
  const { data: colors } = useQuery(colorsQuery());
  const styles = outfit.outfit_styles.flatMap((id) => styleNames?.get(id) ?? []);
  const swatches = outfit.colors.flatMap((id) => colors?.get(id) ?? []);
  return (
    <dl className="grid grid-cols-[5.5rem_1fr] gap-x-4 gap-y-3 text-small">
      <Row term="Gender">{capitalise(outfit.gender)}</Row>
      {outfit.outfit_styles.length > 0 && (
        <Row term="Styles">
          {styleNames === undefined ? <Skeleton className="mt-1 h-3.5 w-32" /> : styles.join(", ")}
        </Row>
      )}
      {outfit.colors.length > 0 && (
        <Row term="Colors">
          {colors === undefined && <Skeleton className="mt-1 h-3.5 w-48" />}
          <ul className="flex flex-wrap gap-x-4 gap-y-1.5">
            {swatches.map((color) => (
              <li key={color.id} className="flex items-center gap-2">
                <span
                  aria-hidden="true"
                  className="size-4 rounded-full border border-line-strong/60"
                  style={{ backgroundColor: color.hex_code }}
                />
                {color.name}
              </li>
            ))}
          </ul>
        </Row>
      )}
    </dl>
  );
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-soft">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
