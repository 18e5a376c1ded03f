import { useQuery } from "@tanstack/react-query";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { pageTitle } from "@/lib/product";
import { siteSettingsQuery } from "../api/site-settings";
import { FiguresPanel } from "./figures-panel";
import { OrphansPanel } from "./orphans-panel";
import { SettingsPanel } from "./settings-panel";
import { SiteForm } from "./site-form";

/** The settings of the whole site, and the server's figures. */
export function SettingsSection() {
  const settings = useQuery(siteSettingsQuery());
  return (
    <>
      <title>{pageTitle("Settings, Admin")}</title>
      <h1 className="mb-4 font-serif text-heading">Settings</h1>
      <div className="flex flex-col gap-4">
        <SettingsPanel title="Site">
          {settings.isPending && <SiteSkeleton />}
          {settings.isError && settings.data === undefined && (
            <ErrorNotice
              title="The settings could not be loaded."
              error={settings.error}
              onRetry={() => void settings.refetch()}
            />
          )}
          {settings.data !== undefined && <SiteForm settings={settings.data} />}
        </SettingsPanel>
        <OrphansPanel />
        <FiguresPanel />
      </div>
    </>
  );
}

function SiteSkeleton() {
  return (
    <div className="flex flex-col gap-5">
      <Skeleton className="h-36 w-full max-w-md sm:h-30" />
      <Skeleton className="h-17 w-full sm:h-15" />
      <Skeleton className="h-17 w-full sm:h-15" />
    </div>
  );
}
