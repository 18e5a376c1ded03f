import type { ReactNode } from "react";
import { CardGrid, CardGridSkeleton } from "@/components/ui/card-grid";
import { Skeleton } from "@/components/ui/skeleton";
import type { Item } from "../api/item";
import { itemCardShape } from "./item-card-shape";

/** Cards in view when a page opens, on wide screens: their pictures are loaded first. */
const eagerCards = 4;

interface ItemGridProps {
  items: readonly Item[];
  label: string;
  busy?: boolean;
  children: (item: Item, index: number, eager: boolean) => ReactNode;
}

/** Item cards in a grid; `children` renders one card. */
export function ItemGrid({ items, label, busy = false, children }: ItemGridProps) {
  return (
    <CardGrid rows={items} shape={itemCardShape} label={label} busy={busy}>
      {(item, index) => children(item, index, index < eagerCards)}
    </CardGrid>
  );
}

export function ItemGridSkeleton({ count = 12 }: { count?: number }) {
  return (
    <CardGridSkeleton count={count} shape={itemCardShape} label="Loading items...">
      <Skeleton className="mt-4 h-4 w-3/4" />
      <Skeleton className="mt-2 h-3 w-full" />
      <Skeleton className="mt-3 h-3 w-1/2" />
    </CardGridSkeleton>
  );
}
