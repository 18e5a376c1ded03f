import { useMutation, useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Copy, Download, FolderInput, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { isMissing } from "@/api/error";
import { useSession } from "@/api/session";
import { CopyButton, copyText } from "@/components/copy-button";
import { ErrorNotice } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { Field } from "@/components/field";
import { Select } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { GoneNotice, StaleNotice } from "@/components/stale-notice";
import { formatBytes } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { toast } from "@/lib/toast";
import { type Bucket, objectInfoQuery, signObject } from "./api";
import type { ObjectAction } from "./object-dialogs";
import { encodePath, previewKindOf } from "./object-path";
import { ObjectPreview } from "./object-preview";
import { saveObject } from "./save-object";

interface ObjectPanelProps {
  bucket: Bucket;
  name: string;
  /** Why nothing can be changed, or undefined. */
  refusal: string | undefined;
  onAct: (kind: ObjectAction["kind"]) => void;
}

/** An object: preview, properties, addresses, and what can be done with it. */
export function ObjectPanel({ bucket, name, refusal, onAct }: ObjectPanelProps) {
  const info = useQuery(objectInfoQuery(bucket.id, name));
  if (info.isPending) return <SkeletonRows rows={6} />;
  if (info.isLoadingError) {
    return (
      <div className="p-4">
        <ErrorNotice
          title="The file could not be read"
          error={info.error}
          onRetry={() => info.refetch()}
        />
      </div>
    );
  }
  const { data } = info;
  const facts: [string, string][] = [
    ["Size", data.size === null ? "–" : `${formatBytes(data.size)} (${data.size} bytes)`],
    ["Type", data.content_type ?? "–"],
    ["Caching", data.cache_control ?? "–"],
    ["Created", formatTime(data.created_at)],
    ["Changed", data.last_modified === null ? "–" : formatTime(data.last_modified)],
    ["Path", name],
  ];
  if (isMissing(info.error)) {
    return (
      <>
        <GoneNotice>This file is not there any more: it was deleted, renamed or moved.</GoneNotice>
        <div className="p-4">
          <Facts facts={facts} />
        </div>
      </>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 p-4">
      <StaleNotice query={info} />
      <ObjectPreview
        key={`${name}:${data.etag}`}
        bucket={bucket.id}
        name={name}
        size={data.size}
        kind={previewKindOf(name, data.content_type)}
        type={data.content_type}
      />
      <div className="flex flex-wrap gap-1.5">
        <DownloadButton bucket={bucket.id} name={name} size={data.size} />
        <ActionButton
          label="Rename"
          icon={Pencil}
          refusal={refusal}
          onClick={() => onAct("rename")}
        />
        <ActionButton
          label="Move"
          icon={FolderInput}
          refusal={refusal}
          onClick={() => onAct("move")}
        />
        <ActionButton label="Copy" icon={Copy} refusal={refusal} onClick={() => onAct("copy")} />
        <ActionButton
          label="Delete"
          icon={Trash2}
          refusal={refusal}
          onClick={() => onAct("delete")}
        />
      </div>
      <Facts facts={facts} />
      <Addresses bucket={bucket} name={name} />
    </div>
  );
}

interface ActionButtonProps {
  label: string;
  icon: typeof Copy;
  refusal: string | undefined;
  onClick: () => void;
}

function ActionButton({ label, icon: Icon, refusal, onClick }: ActionButtonProps) {
  return (
    <Button size="dense" disabled={refusal !== undefined} title={refusal} onClick={onClick}>
      <Icon aria-hidden="true" className="size-3.5" />
      {label}
    </Button>
  );
}

/** Downloads a file; how, depends on its size. */
function DownloadButton({
  bucket,
  name,
  size,
}: {
  bucket: string;
  name: string;
  size: number | null;
}) {
  const { api_url: apiUrl } = useSession();
  const download = useMutation({
    mutationFn: () => saveObject({ base: `${apiUrl ?? ""}/storage/v1`, bucket, name, size }),
    onError: (error) => {
      // The reader has closed the browser's own dialog.
      if (error instanceof DOMException && error.name === "AbortError") return;
      toast({ title: "The download failed", description: error.message, tone: "danger" });
    },
  });
  return (
    <Button size="dense" pending={download.isPending} onClick={() => download.mutate()}>
      <Download aria-hidden="true" className="size-3.5" />
      Download
    </Button>
  );
}

const expiries = [
  { seconds: 60, label: "1 minute" },
  { seconds: 3600, label: "1 hour" },
  { seconds: 86_400, label: "1 day" },
  { seconds: 604_800, label: "1 week" },
  { seconds: 31_536_000, label: "1 year" },
];

/** The public address, or one that is signed for a time. */
function Addresses({ bucket, name }: { bucket: Bucket; name: string }) {
  const { api_url: apiUrl } = useSession();
  const base = `${apiUrl ?? ""}/storage/v1`;
  const [seconds, setSeconds] = useState(3600);
  const sign = useMutation({
    mutationFn: async () => `${base}${await signObject(bucket.id, name, seconds)}`,
    onSuccess: async (url) => {
      if (await copyText(url)) toast({ title: "Signed URL copied", tone: "success" });
    },
  });
  const publicUrl = `${base}/object/public/${encodeURIComponent(bucket.id)}/${encodePath(name)}`;
  return (
    <section
      aria-label="Addresses"
      className="grid grid-cols-[minmax(0,1fr)] gap-3 border-line-soft border-t pt-4"
    >
      {bucket.public && (
        <div className="flex items-center gap-2">
          <p className="min-w-0 flex-1 truncate font-mono text-label" title={publicUrl}>
            {publicUrl}
          </p>
          <CopyButton text={publicUrl} label="Copy public URL" />
        </div>
      )}
      <Field
        label="Signed URL"
        hint="Whoever has it can read the file until it expires, and it cannot be taken back before."
      >
        {(attributes) => (
          <div className="flex gap-2">
            <Select
              {...attributes}
              className="flex-1"
              value={seconds}
              onChange={(event) => {
                setSeconds(Number(event.target.value));
                // The address below is one for the former time.
                sign.reset();
              }}
            >
              {expiries.map((expiry) => (
                <option key={expiry.seconds} value={expiry.seconds}>
                  {expiry.label}
                </option>
              ))}
            </Select>
            <Button size="dense" pending={sign.isPending} onClick={() => sign.mutate()}>
              Create and copy
            </Button>
          </div>
        )}
      </Field>
      {sign.data !== undefined && (
        <p className="break-all rounded-sm bg-canvas p-2 font-mono text-label">{sign.data}</p>
      )}
      {sign.isError && <ErrorNotice title="No URL was signed" error={sign.error} />}
    </section>
  );
}
