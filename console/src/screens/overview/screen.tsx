import type { QueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Plug } from "lucide-react";
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import { platformSchemas } from "@/api/catalog-model";
import { ScreenLayout } from "@/components/screen-layout";
import { Advisors } from "./advisors";
import { advisorsQuery, seriesQuery, sizesQuery, slowQueriesQuery } from "./api";
import { ConnectDialog } from "./connect";
import { FirstMinute } from "./first-minute";
import { Plots } from "./plots";
import { SizesSection } from "./sizes";
import { SlowQueriesSection } from "./slow-queries";
import { Status } from "./status";

export function prefetch(client: QueryClient): void {
  void client.prefetchQuery(seriesQuery);
  void client.prefetchQuery(advisorsQuery);
  void client.prefetchQuery(slowQueriesQuery("total"));
  void client.prefetchQuery(sizesQuery);
}

/** How the project is: what an empty one needs next, measurements, findings of the advisors, slow statements and sizes. */
export function Screen() {
  const [isConnecting, setConnecting] = useState(false);
  const catalog = useCatalog();
  const ownTables = catalog?.tables.filter(({ schema }) => !platformSchemas.has(schema));
  return (
    <ScreenLayout
      title="Overview"
      actions={
        <Button size="dense" onClick={() => setConnecting(true)}>
          <Plug aria-hidden="true" className="size-3.5" />
          Connect an app
        </Button>
      }
    >
      <div className="mx-auto grid w-full max-w-7xl grid-cols-[minmax(0,1fr)] gap-6 p-4 max-md:p-3">
        <Status />
        {ownTables?.length === 0 && <FirstMinute />}
        <Plots />
        <Advisors />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-6 xl:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
          <SlowQueriesSection />
          <SizesSection />
        </div>
      </div>
      {isConnecting && (
        <ConnectDialog table={ownTables?.[0]?.name} onClose={() => setConnecting(false)} />
      )}
    </ScreenLayout>
  );
}
