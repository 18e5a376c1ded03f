import { type QueryClient, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { FolderClosed } from "lucide-react";
import { useState } from "react";
import { useSession, whyReadOnly } from "@/api/session";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { useSearchState } from "@/lib/use-search-state";
import { type Bucket, bucketsQuery } from "./api";
import { BucketDialog } from "./bucket-dialog";
import { BucketList } from "./bucket-list";
import { BucketView } from "./bucket-view";
import { openUploadsOf } from "./upload-runner";

export function prefetch(client: QueryClient): void {
  void client.prefetchQuery(bucketsQuery);
}

/** Storage: buckets at the left, the files of one in the work area. The address holds bucket, folder, view and the opened file. */
export function Screen() {
  const [search, change] = useSearchState();
  const buckets = useQuery(bucketsQuery);
  const [isCreating, setCreating] = useState(false);
  const session = useSession();
  openUploadsOf(session);
  const refusal = whyReadOnly(session);
  const list = buckets.data ?? [];
  const chosen = search.get("bucket");
  const bucket = list.find(({ id }) => id === chosen);
  const dialog = isCreating && (
    <BucketDialog
      taken={list.map(({ id }) => id)}
      onClose={() => setCreating(false)}
      onSaved={(id) => {
        setCreating(false);
        change({ bucket: id, folder: null, open: null, find: null });
      }}
    />
  );
  const listPane = {
    label: "Buckets",
    content: (
      <BucketList
        buckets={list}
        open={chosen}
        refusal={refusal}
        onCreate={() => setCreating(true)}
      />
    ),
  };
  if (bucket !== undefined) {
    return (
      <>
        {/* Another bucket begins without the selection and the typed text of the last. */}
        <BucketView
          key={bucket.id}
          bucket={bucket}
          list={listPane}
          refusal={refusal}
          notice={<StaleNotice query={buckets} />}
        />
        {dialog}
      </>
    );
  }
  return (
    <ScreenLayout
      title="Storage"
      list={list.length > 0 ? listPane : undefined}
      isObjectOpen={chosen !== null}
      onBack={chosen === null ? undefined : () => change({ bucket: null })}
    >
      <StaleNotice query={buckets} />
      {buckets.isPending || (chosen !== null && buckets.isFetching) ? (
        <SkeletonRows />
      ) : buckets.isLoadingError ? (
        <ErrorState
          title="The buckets could not be loaded"
          error={buckets.error}
          onRetry={() => buckets.refetch()}
        />
      ) : (
        <NoBucket
          buckets={list}
          chosen={chosen}
          refusal={refusal}
          onCreate={() => setCreating(true)}
        />
      )}
      {dialog}
    </ScreenLayout>
  );
}

interface NoBucketProps {
  buckets: readonly Bucket[];
  chosen: string | null;
  refusal: string | undefined;
  onCreate: () => void;
}

function NoBucket({ buckets, chosen, refusal, onCreate }: NoBucketProps) {
  if (chosen !== null) {
    return <EmptyState icon={FolderClosed} title={`There is no bucket “${chosen}”.`} />;
  }
  if (buckets.length > 0) {
    return <EmptyState icon={FolderClosed} title="Choose a bucket at the left." />;
  }
  return (
    <EmptyState
      icon={FolderClosed}
      title="Files live in buckets, and there is none yet."
      text="A bucket is public or private, and can limit sizes and types of files."
      action={
        <Button
          size="dense"
          variant="primary"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={onCreate}
        >
          New bucket
        </Button>
      }
    />
  );
}
