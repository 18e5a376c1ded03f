import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { FolderOpen } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { ScreenLayout } from "@/components/screen-layout";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { useSearchState } from "@/lib/use-search-state";
import { type Bucket, objectsKey, objectsQuery } from "./api";
import { BucketActions, FolderTrail } from "./bucket-header";
import { filesOfDrop } from "./chosen-files";
import { JobsTray } from "./jobs/jobs-tray";
import { type ObjectAction, ObjectDialog } from "./object-dialogs";
import { ObjectTable, ObjectTiles } from "./object-list";
import { ObjectPanel } from "./object-panel";
import { lastPartOf, parseFolder } from "./object-path";
import { type ObjectRow, readObjectRows } from "./object-rows";
import { ObjectToolbar, readView } from "./object-toolbar";
import { addFiles, onUploadFinished } from "./upload-runner";
import { UploadsTray } from "./uploads-tray";

interface BucketViewProps {
  bucket: Bucket;
  list: { label: string; content: ReactNode };
  refusal: string | undefined;
  /** Stands above the files. */
  notice: ReactNode;
}

/** The files of one folder of a bucket, with uploads below. */
export function BucketView({ bucket, list, refusal, notice }: BucketViewProps) {
  const [search, change] = useSearchState();
  const view = readView(search);
  const folder = parseFolder(search.get("folder"));
  const open = search.get("open");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [action, setAction] = useState<ObjectAction | null>(null);
  const objects = useInfiniteQuery(
    objectsQuery({
      bucket: bucket.id,
      prefix: folder + view.find,
      sort: view.sort,
      descending: view.descending,
    }),
  );
  const rows = useMemo(() => readObjectRows(objects.data?.pages ?? []), [objects.data]);
  useReloadAfterUploads(bucket.id);
  function openRow(row: ObjectRow): void {
    if (!row.isFolder) change({ open: row.name });
    else {
      setSelected(new Set());
      change({ folder: row.name, find: null, open: null });
    }
  }
  const listProps = {
    bucket: bucket.id,
    rows,
    open,
    selected,
    onSelect: setSelected,
    onOpen: openRow,
    onEndReached: () => {
      if (objects.hasNextPage && !objects.isFetchingNextPage) void objects.fetchNextPage();
    },
  };
  return (
    <ScreenLayout
      title={<FolderTrail bucket={bucket} folder={folder} />}
      actions={<BucketActions bucket={bucket} folder={folder} refusal={refusal} />}
      list={list}
      onBack={() => change({ bucket: null, folder: null, open: null, find: null })}
      scrolls={false}
      panel={
        open === null
          ? undefined
          : {
              label: lastPartOf(open),
              onClose: () => change({ open: null }),
              content: (
                <ObjectPanel
                  key={open}
                  bucket={bucket}
                  name={open}
                  refusal={refusal}
                  onAct={(kind) => setAction({ kind, bucket: bucket.id, names: [open] })}
                />
              ),
            }
      }
    >
      <ObjectToolbar
        view={view}
        change={change}
        selected={selected}
        refusal={refusal}
        onAct={(kind) => setAction({ kind, bucket: bucket.id, names: [...selected] })}
        onClear={() => setSelected(new Set())}
      />
      <DropZone
        isEnabled={refusal === undefined}
        onDrop={(transfer) =>
          void filesOfDrop(transfer).then((files) => addFiles(bucket.id, folder, files))
        }
      >
        {notice}
        <StaleNotice query={objects} />
        {objects.isPending ? (
          <SkeletonRows />
        ) : objects.isLoadingError ? (
          <ErrorState
            title="The files could not be listed"
            error={objects.error}
            onRetry={() => objects.refetch()}
          />
        ) : rows.length === 0 ? (
          <EmptyState
            icon={FolderOpen}
            title={view.find === "" ? "There are no files here." : "No name begins with this text."}
            text={
              view.find === "" && refusal === undefined ? "Drop files or folders here." : undefined
            }
          />
        ) : view.isGrid ? (
          <ObjectTiles {...listProps} />
        ) : (
          <ObjectTable {...listProps} />
        )}
      </DropZone>
      <JobsTray bucket={bucket.id} refusal={refusal} />
      <UploadsTray />
      {action !== null && (
        <ObjectDialog
          action={action}
          onClose={() => setAction(null)}
          onDone={() => {
            setAction(null);
            setSelected(new Set());
            if (action.kind !== "copy" && open !== null && action.names.includes(open)) {
              change({ open: null }, { replace: true });
            }
          }}
        />
      )}
    </ScreenLayout>
  );
}

/** Lists are loaded anew when uploads end, but not for each of a thousand small files. */
function useReloadAfterUploads(bucket: string): void {
  const client = useQueryClient();
  useEffect(() => {
    let timer: number | undefined;
    const stop = onUploadFinished((upload) => {
      if (upload.bucket !== bucket) return;
      timer ??= window.setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey: objectsKey(bucket) });
      }, 500);
    });
    return () => {
      stop();
      // A list that is opened later loads anew in any case, because it is stale.
      window.clearTimeout(timer);
    };
  }, [bucket, client]);
}

interface DropZoneProps {
  isEnabled: boolean;
  onDrop: (transfer: DataTransfer) => void;
  children: ReactNode;
}

/** Accepts dropped files and folders. The buttons above do the same by keyboard. */
function DropZone({ isEnabled, onDrop, children }: DropZoneProps) {
  const [isOver, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an addition; the button Upload works by keyboard.
    <div
      className={cn("flex min-h-0 flex-1 flex-col", isOver && "bg-selected")}
      onDragOver={(event) => {
        if (!isEnabled || !event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (!isEnabled || event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        onDrop(event.dataTransfer);
      }}
    >
      {children}
    </div>
  );
}
