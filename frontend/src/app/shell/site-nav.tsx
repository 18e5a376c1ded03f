import { NavLink, useLocation, useNavigate } from "react-router";
import { discoverySearch } from "@/app/routes/discovery/discovery-params";
import { SearchField } from "@/components/search-field";
import { paths } from "@/lib/paths";
import { useSession } from "@/lib/session";

/** Navigation and search of the reading pages on tablets and wider; phones have the bottom navigation. */
export function SiteNav() {
  const { user, isLoading } = useSession();
  const { pathname } = useLocation();
  return (
    <>
      <nav aria-label="Sections" className="ml-3 flex items-center gap-1 max-md:hidden">
        <SiteNavLink to={paths.explore} label="Explore" />
        <SiteNavLink to={paths.discovery} label="Discovery" />
        {user !== null && <SiteNavLink to={paths.createOutfit} label="Create Outfit" />}
        {user !== null && <SiteNavLink to={paths.myProfile} label="My Profile" />}
        {user === null && !isLoading && <SiteNavLink to={paths.signUp} label="Create Your Page" />}
      </nav>
      {/* Discovery has a search box of its own. */}
      {pathname !== paths.discovery && <HeaderSearch />}
    </>
  );
}

function SiteNavLink({ to, label }: { to: string; label: string }) {
  return (
    <NavLink
      to={to}
      className="inline-flex h-11 items-center rounded-full px-3 text-ink-soft text-small whitespace-nowrap transition-colors hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink"
    >
      {label}
    </NavLink>
  );
}

/** Searches on Discovery, on Enter: typing must not take the reader away from the page. */
function HeaderSearch() {
  const navigate = useNavigate();
  return (
    <SearchField
      query=""
      live={false}
      label="Search outfits and items"
      placeholder="Search outfits and items..."
      className="max-w-sm flex-1 max-lg:hidden"
      onSearch={(query) => navigate(`${paths.discovery}${discoverySearch({ query })}`)}
    />
  );
}
