import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { Picture } from "@/components/ui/picture";
import { formatDate } from "@/lib/format";
import { paths } from "@/lib/paths";
import { creatorName } from "../api/outfits";
import { waitingOutfitsQuery } from "../api/waiting-outfits";

/** The submissions that have waited longest, each a link to its review. Nothing where none waits, or while they are loaded. */
export function WaitingOutfits() {
  const { data = [] } = useQuery(waitingOutfitsQuery());
  if (data.length === 0) return null;
  return (
    <section aria-labelledby="waiting-outfits" className="mt-8">
      <h2 id="waiting-outfits" className="font-medium text-small">
        Waiting longest
      </h2>
      <ul className="mt-3 grid grid-cols-3 gap-3 md:grid-cols-4 xl:grid-cols-6">
        {data.map((outfit) => (
          <li key={outfit.id} className="min-w-0">
            <Link
              to={`${paths.admin("combines")}?status=pending&row=${outfit.id}`}
              className="group block"
            >
              <Picture
                url={outfit.main_image}
                alt=""
                name={outfit.name}
                sizes="(min-width: 1280px) 12rem, 33vw"
                width={1200}
                height={1500}
                className="aspect-4/5 w-full rounded-md border border-line"
              />
              <span className="mt-2 block truncate font-medium text-small group-hover:underline">
                {outfit.name}
              </span>
              <span className="block truncate text-caption text-ink-soft">
                {creatorName(outfit)}
                <span className="max-md:hidden"> · </span>
                <span className="max-md:block">{formatDate(outfit.created_at)}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
