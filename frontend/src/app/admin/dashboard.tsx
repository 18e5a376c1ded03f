import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { WaitingOutfits } from "@/features/admin-outfits/components/waiting-outfits";
import { type AdminOverview, adminOverviewQuery } from "@/lib/admin-overview";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";
import { adminSections } from "./sections";

/** The dashboard's text under the name of each section. */
const cards: readonly { path: string; text: string; count?: keyof AdminOverview }[] = [
  { path: "brands", text: "Makers of items, with their logos", count: "brands" },
  { path: "categories", text: "First level of the catalogue", count: "categories" },
  { path: "subcategories", text: "Second level of the catalogue", count: "subcategories" },
  { path: "items", text: "Products, prices and pictures", count: "items" },
  { path: "combines", text: "Outfits and their review", count: "combines" },
  { path: "users", text: "People and their roles", count: "users" },
  { path: "colors", text: "Named colors", count: "colors" },
  { path: "styles", text: "Styles of items", count: "styles" },
  { path: "outfit-styles", text: "Styles of outfits", count: "outfit_styles" },
  { path: "reports", text: "What people report, still open", count: "reports" },
  { path: "settings", text: "The site and its figures" },
];

/** The admin area's first page: every section with the number of its rows, and what waits for review. */
export function Dashboard() {
  const overview = useQuery(adminOverviewQuery());
  const shown = cards.flatMap((card) => {
    const section = adminSections.find(({ path }) => path === card.path);
    return section === undefined ? [] : [{ ...card, section }];
  });
  if (overview.isError && overview.data === undefined) {
    return (
      <ErrorNotice
        title="The figures could not be loaded."
        error={overview.error}
        onRetry={() => void overview.refetch()}
      />
    );
  }
  return (
    <>
      <title>{pageTitle("Admin")}</title>
      <h1 className="font-serif text-heading">Dashboard</h1>
      <PendingNotice pending={overview.data?.pending} />
      <ul className="mt-6 grid grid-cols-2 gap-x-6 sm:gap-x-10 md:grid-cols-3 xl:grid-cols-4">
        {shown.map(({ path, text, count, section: { label } }) => (
          <li key={path}>
            <Link
              to={paths.admin(path)}
              className="group flex h-full min-h-13 items-center justify-between gap-3 border-line border-t py-2.5 transition-colors hover:border-ink-soft"
            >
              <span className="min-w-0">
                <span className="block font-medium text-small group-hover:underline">{label}</span>
                <span className="block truncate text-caption text-ink-soft max-sm:hidden">
                  {text}
                </span>
              </span>
              {count !== undefined &&
                (overview.data === undefined ? (
                  <Skeleton className="h-7 w-10" />
                ) : (
                  <span className="font-serif text-heading tabular-nums">
                    {overview.data[count].toLocaleString("en-US")}
                  </span>
                ))}
            </Link>
          </li>
        ))}
      </ul>
      <WaitingOutfits />
    </>
  );
}

function PendingNotice({ pending }: { pending: number | undefined }) {
  if (pending === undefined) return <Skeleton className="mt-2 h-5 w-56" />;
  if (pending === 0) {
    return <p className="mt-2 text-ink-soft text-small">No outfit waits for review.</p>;
  }
  return (
    <p className="mt-2 text-small">
      <Link
        to={`${paths.admin("combines")}?status=pending`}
        className="font-medium underline decoration-line-strong underline-offset-4 hover:decoration-ink"
      >
        {pending === 1 ? "1 outfit waits for review" : `${pending} outfits wait for review`}
      </Link>
    </p>
  );
}
