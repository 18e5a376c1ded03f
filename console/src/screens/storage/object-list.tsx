import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { File, FileAudio, FileImage, FileText, FileVideo, Folder } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { RowGrid } from "@/components/row-grid";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { loadObject } from "./api";
import type { ObjectRow } from "./object-rows";

interface ObjectListProps {
  bucket: string;
  rows: readonly ObjectRow[];
  open: string | null;
  selected: ReadonlySet<string>;
  onSelect: (names: ReadonlySet<string>) => void;
  onOpen: (row: ObjectRow) => void;
  onEndReached: () => void;
}

const icons = {
  image: FileImage,
  text: FileText,
  pdf: FileText,
  audio: FileAudio,
  video: FileVideo,
  none: File,
};

function RowIcon({ row, className }: { row: ObjectRow; className: string }) {
  const Icon = row.isFolder ? Folder : icons[row.kind];
  return (
    <Icon
      aria-hidden="true"
      strokeWidth={1.6}
      className={cn("shrink-0 text-ink-soft", className)}
    />
  );
}

/** A folder as a list with names, types, sizes and times. */
export function ObjectTable(props: ObjectListProps) {
  return (
    <RowGrid
      label="Files"
      rows={props.rows}
      rowKey={({ name }) => name}
      openKey={props.open}
      onOpen={props.onOpen}
      onEndReached={props.onEndReached}
      selection={{ keys: props.selected, onChange: props.onSelect }}
      columns={[
        {
          key: "name",
          header: "Name",
          width: "minmax(0,1fr)",
          cell: (row) => (
            <>
              <RowIcon row={row} className="size-4" />
              <span className="truncate">
                <Text>{row.label}</Text>
              </span>
            </>
          ),
        },
        {
          key: "type",
          header: "Type",
          width: "minmax(0,11rem)",
          wideOnly: true,
          cell: (row) => (
            <span className="truncate text-ink-soft">
              <Text>{row.isFolder ? "folder" : (row.type ?? "–")}</Text>
            </span>
          ),
        },
        {
          key: "size",
          header: "Size",
          width: "5.5rem",
          align: "end",
          cell: (row) => (row.size === null ? "" : formatBytes(row.size)),
        },
        {
          key: "changed",
          header: "Changed",
          width: "12rem",
          wideOnly: true,
          cell: (row) => (
            <span className="text-ink-soft">
              {row.changedAt === null ? "" : formatTime(row.changedAt)}
            </span>
          ),
        },
      ]}
    />
  );
}

const tileWidth = 148;
const tileHeight = 156;

/** A folder as a grid of tiles with small pictures. Only the visible tiles are drawn and load theirs. */
export function ObjectTiles(props: ObjectListProps) {
  const { rows, onEndReached } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [perLine, setPerLine] = useState(6);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = () =>
      setPerLine(Math.max(2, Math.floor((element.clientWidth - 24) / tileWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const lines = Math.ceil(rows.length / perLine);
  const virtualizer = useVirtualizer({
    count: lines,
    getScrollElement: () => scroller.current,
    estimateSize: () => tileHeight,
    overscan: 3,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const reachEnd = useRef(onEndReached);
  useEffect(() => {
    reachEnd.current = onEndReached;
  });
  useEffect(() => {
    if (lines > 0 && last >= lines - 4) reachEnd.current();
  }, [last, lines]);
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto p-3">
      <ul aria-label="Files" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {items.flatMap((line) =>
          rows.slice(line.index * perLine, (line.index + 1) * perLine).map((row, column) => (
            <li
              key={row.name}
              className="absolute p-1"
              style={{
                width: `${100 / perLine}%`,
                height: tileHeight,
                left: `${(column * 100) / perLine}%`,
                top: line.start,
              }}
            >
              <Tile {...props} row={row} />
            </li>
          )),
        )}
      </ul>
    </div>
  );
}

function Tile({ row, bucket, open, onOpen }: ObjectListProps & { row: ObjectRow }) {
  return (
    <button
      type="button"
      onClick={() => onOpen(row)}
      aria-current={open === row.name || undefined}
      title={row.label}
      className={cn(
        "flex size-full flex-col rounded-sm border border-transparent p-1.5 text-left text-label hover:bg-hover",
        open === row.name && "border-line bg-selected",
      )}
    >
      <span className="flex min-h-0 w-full flex-1 items-center justify-center overflow-hidden rounded-[4px] bg-surface">
        {row.kind === "image" && (row.size ?? 0) < largestTilePicture ? (
          <TilePicture bucket={bucket} row={row} />
        ) : (
          <RowIcon row={row} className="size-7" />
        )}
      </span>
      <span className="mt-1.5 w-full truncate">
        <Text>{row.label}</Text>
      </span>
      <span className="text-ink-soft">{row.size === null ? "folder" : formatBytes(row.size)}</span>
    </button>
  );
}

/** Larger pictures would make scrolling wait for the network; their tile shows a sign. */
const largestTilePicture = 1_000_000;

function TilePicture({ bucket, row }: { bucket: string; row: ObjectRow }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let made: string | null = null;
    loadObject(bucket, row.name, stop.signal).then(
      (blob) => {
        if (stop.signal.aborted) return;
        made = URL.createObjectURL(blob.type.startsWith("image/") ? blob : new Blob([]));
        setUrl(made);
      },
      // Shows the icon if the picture cannot be loaded; opening the file shows the error.
      () => undefined,
    );
    return () => {
      stop.abort();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [bucket, row.name]);
  if (url === null) return <RowIcon row={row} className="size-7" />;
  return <img src={url} alt="" className="size-full object-contain" />;
}
