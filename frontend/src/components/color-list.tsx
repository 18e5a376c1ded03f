import { useQuery } from "@tanstack/react-query";
import { Skeleton } from "@/components/ui/skeleton";
import { colorsQuery } from "@/lib/vocabulary";

/** Colors with their names, given by id. */
export function ColorList({ ids }: { ids: readonly string[] }) {
  const { data: colors } = useQuery(colorsQuery());
  if (colors === undefined) return <Skeleton className="mt-1 h-3.5 w-48" />;
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1.5">
      {ids
        .flatMap((id) => colors.get(id) ?? [])
        .map((color) => (
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
  );
}
