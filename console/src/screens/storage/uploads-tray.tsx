import { useVirtualizer } from "@tanstack/react-virtual";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import {
  Check,
  ChevronDown,
  ChevronUp,
  CircleAlert,
  Pause,
  Play,
  RotateCcw,
  X,
} from "lucide-react";
import { useRef, useState } from "react";
import { ProgressBar } from "@/components/progress-bar";
import { Text } from "@/components/text";
import { formatBytes, plural } from "@/lib/format";
import { lastPartOf } from "./object-path";
import { type Conflict, isFinished, summarizeUploads, type Upload } from "./upload-queue";
import {
  clearFinished,
  decideConflicts,
  pauseUploads,
  removeUploads,
  resumeUploads,
  useUploads,
} from "./upload-runner";

/** The queue of uploads below the list of files. It is absent while nothing was uploaded. */
export function UploadsTray() {
  const uploads = useUploads();
  const [isOpen, setOpen] = useState(true);
  if (uploads.length === 0) return null;
  const summary = summarizeUploads(uploads);
  const isDone = summary.finished === summary.total;
  const running = uploads.filter(({ state }) => state === "uploading" || state === "waiting");
  const paused = uploads.filter(({ state }) => state === "paused");
  return (
    <section aria-label="Uploads" className="shrink-0 border-line border-t bg-surface">
      <header className="flex min-h-10 items-center gap-2 pr-1.5 pl-4">
        <p role="status" className="min-w-0 flex-1 truncate text-caption">
          <span className="font-medium">
            {isDone
              ? plural(summary.total, "upload")
              : `${summary.finished} of ${plural(summary.total, "file")} uploaded`}
          </span>
          <span className="text-ink-soft">
            {` · ${formatBytes(summary.sent)} of ${formatBytes(summary.size)}`}
            {summary.failed > 0 && ` · ${summary.failed} failed`}
          </span>
        </p>
        {running.length > 0 && (
          <Button
            size="dense"
            variant="quiet"
            onClick={() => pauseUploads(running.map(({ id }) => id))}
          >
            Pause all
          </Button>
        )}
        {running.length === 0 && paused.length > 0 && (
          <Button
            size="dense"
            variant="quiet"
            onClick={() => resumeUploads(paused.map(({ id }) => id))}
          >
            Resume all
          </Button>
        )}
        {summary.finished > 0 && (
          <Button size="dense" variant="quiet" onClick={clearFinished}>
            Clear
          </Button>
        )}
        <IconButton
          size="dense"
          label={isOpen ? "Hide uploads" : "Show uploads"}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <ChevronDown className="size-4" /> : <ChevronUp className="size-4" />}
        </IconButton>
      </header>
      {isOpen && (
        <>
          <Conflicts uploads={uploads.filter(({ state }) => state === "asking")} />
          <UploadList uploads={uploads} />
        </>
      )}
    </section>
  );
}

/** Lines have one height, so that of 20 000 only the visible ones are drawn. */
const lineHeight = 36;

function UploadList({ uploads }: { uploads: readonly Upload[] }) {
  const scroller = useRef<HTMLUListElement>(null);
  const lines = useVirtualizer({
    count: uploads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 6,
    initialRect: { width: 600, height: 192 },
  });
  return (
    <ul
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
      tabIndex={0}
      aria-label="Files"
      className="relative max-h-48 overflow-y-auto px-4"
    >
      {/* The room of all lines; the drawn ones are placed in it. */}
      <li aria-hidden="true" style={{ height: lines.getTotalSize() }} />
      {lines.getVirtualItems().map(({ index, start }) => {
        const upload = uploads[index];
        return (
          upload !== undefined && (
            <li
              key={upload.id}
              aria-setsize={uploads.length}
              aria-posinset={index + 1}
              style={{ top: start, height: lineHeight }}
              className="absolute inset-x-4 flex items-center gap-2.5 text-caption"
            >
              <UploadLine upload={upload} />
            </li>
          )
        );
      })}
    </ul>
  );
}

/** Asks once for all files whose name is taken, or for each of them. */
function Conflicts({ uploads }: { uploads: readonly Upload[] }) {
  const [isPending, setPending] = useState(false);
  const first = uploads[0];
  if (first === undefined) return null;
  async function decide(choice: Conflict): Promise<void> {
    setPending(true);
    await decideConflicts(
      uploads.map(({ id }) => id),
      choice,
    ).finally(() => setPending(false));
  }
  return (
    <div role="alert" className="mx-4 mb-2 rounded-sm border border-warning/40 p-2.5 text-caption">
      <p>
        {uploads.length === 1 ? (
          <>
            <code className="font-mono">
              <Text>{first.name}</Text>
            </code>{" "}
            exists already.
          </>
        ) : (
          `${uploads.length} of these files exist already.`
        )}
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button size="dense" disabled={isPending} onClick={() => decide("replace")}>
          Replace
        </Button>
        <Button size="dense" pending={isPending} onClick={() => decide("keep_both")}>
          Keep both
        </Button>
        <Button size="dense" variant="quiet" disabled={isPending} onClick={() => decide("skip")}>
          Skip
        </Button>
      </div>
    </div>
  );
}

const stateTexts: Partial<Record<Upload["state"], string>> = {
  waiting: "Waiting",
  paused: "Paused",
  asking: "Name is taken",
  file_missing: "Choose the same file again to go on",
  skipped: "Skipped",
};

function UploadLine({ upload }: { upload: Upload }) {
  const { id, state, sent, size, name, error } = upload;
  const fraction = size === 0 ? (state === "done" ? 1 : 0) : sent / size;
  const note = error ?? stateTexts[state];
  return (
    <>
      <StateIcon state={state} />
      <div className="min-w-0 flex-1">
        <div className="flex gap-3">
          <span className="min-w-0 flex-1 truncate" title={name}>
            <Text>{lastPartOf(name)}</Text>
          </span>
          <span
            className={cn("shrink-0 text-label", error === null ? "text-ink-soft" : "text-danger")}
          >
            {note !== undefined ? <Text>{note}</Text> : formatBytes(size)}
          </span>
        </div>
        {!isFinished(upload) && (
          <ProgressBar label={`Upload of ${lastPartOf(name)}`} value={fraction} />
        )}
      </div>
      {(state === "uploading" || state === "waiting") && (
        <IconButton
          size="dense"
          label={`Pause ${lastPartOf(name)}`}
          onClick={() => pauseUploads([id])}
        >
          <Pause className="size-3.5" />
        </IconButton>
      )}
      {state === "paused" && (
        <IconButton
          size="dense"
          label={`Resume ${lastPartOf(name)}`}
          onClick={() => resumeUploads([id])}
        >
          <Play className="size-3.5" />
        </IconButton>
      )}
      {state === "failed" && (
        <IconButton
          size="dense"
          label={`Try ${lastPartOf(name)} again`}
          onClick={() => resumeUploads([id])}
        >
          <RotateCcw className="size-3.5" />
        </IconButton>
      )}
      {state !== "done" && (
        <IconButton
          size="dense"
          label={`Remove ${lastPartOf(name)}`}
          onClick={() => removeUploads([id])}
        >
          <X className="size-3.5" />
        </IconButton>
      )}
    </>
  );
}

function StateIcon({ state }: { state: Upload["state"] }) {
  if (state === "done")
    return <Check aria-label="done" className="size-3.5 shrink-0 text-success" />;
  if (state === "failed" || state === "file_missing" || state === "asking") {
    return <CircleAlert aria-hidden="true" className="size-3.5 shrink-0 text-warning" />;
  }
  return <span aria-hidden="true" className="size-3.5 shrink-0" />;
}
