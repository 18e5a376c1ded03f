/** The list beside the editor: snippets, and what was run before. */
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { FileCode2, Trash2 } from "lucide-react";
import { useState } from "react";
import { ownerOf, useSession } from "@/api/session";
import { CodeBlock } from "@/components/code-block";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { ErrorNotice } from "@/components/error-state";
import { Input } from "@/components/input";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { Text } from "@/components/text";
import { formatAge, formatDuration } from "@/lib/format";
import { toast } from "@/lib/toast";
import { clearHistory, useHistory } from "./run-history";
import { loadSnippet, useSnippets, whyNoSnippetChanges } from "./snippets";
import { useDropSnippet } from "./use-drop-snippet";

interface SqlListProps {
  tab: string;
  onTab: (tab: string) => void;
  /** Opens a text in a new tab. */
  onOpen: (text: string, name?: string, snippet?: string) => void;
}

export function SqlList({ tab, onTab, onOpen }: SqlListProps) {
  const [search, setSearch] = useState("");
  return (
    <Tabs
      label="Saved and run before"
      value={tab === "history" ? "history" : "snippets"}
      onChange={onTab}
      tabs={[
        { value: "snippets", label: "Snippets" },
        { value: "history", label: "History" },
      ]}
    >
      <div className="p-2">
        <Input
          type="search"
          data-search=""
          aria-label={tab === "history" ? "Search the history" : "Search snippets"}
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {tab === "history" ? (
          <HistoryList search={search.toLowerCase()} onOpen={onOpen} />
        ) : (
          <SnippetList search={search.toLowerCase()} onOpen={onOpen} />
        )}
      </div>
    </Tabs>
  );
}

interface ListProps {
  search: string;
  onOpen: SqlListProps["onOpen"];
}

function SnippetList({ search, onOpen }: ListProps) {
  const snippets = useSnippets();
  const dropping = useDropSnippet();
  const refusal = whyNoSnippetChanges(useSession());
  if (snippets.isPending) return <SkeletonRows rows={4} />;
  if (snippets.isLoadingError) {
    return (
      <ErrorNotice
        title="Snippets could not be read"
        error={snippets.error}
        onRetry={() => void snippets.refetch()}
      />
    );
  }
  const shown = snippets.data.filter(({ name }) => name.toLowerCase().includes(search));
  if (shown.length === 0) {
    return (
      <>
        <StaleNotice query={snippets} />
        <p className="px-2 py-3 text-caption text-ink-soft">
          {snippets.data.length === 0
            ? "Queries that you save appear here."
            : "No snippet has this name."}
        </p>
      </>
    );
  }
  async function open(name: string) {
    try {
      const { text = "" } = await loadSnippet(name);
      onOpen(text, name, name);
    } catch (error) {
      fail("The snippet could not be opened", error);
    }
  }
  return (
    <>
      <StaleNotice query={snippets} />
      <ul aria-label="Snippets" className="space-y-0.5">
        {shown.map((snippet) => (
          <li key={snippet.name} className="group flex items-center rounded-[4px] hover:bg-hover">
            <button
              type="button"
              onClick={() => void open(snippet.name)}
              className="flex min-h-8 min-w-0 flex-1 items-center gap-2 rounded-[4px] px-2 text-left text-caption pointer-coarse:min-h-11"
            >
              <FileCode2 aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" />
              <span className="truncate">
                <Text>{snippet.name}</Text>
              </span>
            </button>
            <IconButton
              size="dense"
              label={refusal ?? `Delete ${snippet.name}`}
              disabled={refusal !== undefined}
              onClick={() => void dropping.drop(snippet)}
              className="opacity-0 focus-visible:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"
            >
              <Trash2 aria-hidden="true" className="size-3.5" />
            </IconButton>
          </li>
        ))}
      </ul>
      {dropping.changed !== null && (
        <ConfirmDialog
          title="This snippet was changed elsewhere"
          text={
            <>
              <Text>{dropping.changed.name}</Text> is not as you have seen it here: an editor or
              somebody else has saved it since. Deleting it loses that.
            </>
          }
          confirmLabel="Delete it"
          pending={dropping.isDropping}
          onConfirm={() => void dropping.dropChanged()}
          onClose={dropping.dismiss}
        >
          <CodeBlock label="the snippet as it is now" code={dropping.changed.text ?? ""} />
        </ConfirmDialog>
      )}
    </>
  );
}

function fail(title: string, error: unknown): void {
  toast({ title, description: error instanceof Error ? error.message : "", tone: "danger" });
}

function HistoryList({ search, onOpen }: ListProps) {
  const owner = ownerOf(useSession());
  const entries = useHistory(owner);
  const shown = entries.filter(({ text }) => text.toLowerCase().includes(search));
  if (shown.length === 0) {
    return (
      <p className="px-2 py-3 text-caption text-ink-soft">
        {entries.length === 0
          ? "What you run is listed here, without its results, in this browser alone."
          : "Nothing like this was run."}
      </p>
    );
  }
  return (
    <>
      <ul aria-label="History" className="space-y-0.5">
        {shown.map(({ text, at, subject, outcome, elapsedMs, isCut }) => (
          <li key={at}>
            <button
              type="button"
              onClick={() =>
                onOpen(isCut ? `${text}\n/* The rest of this text was not kept. */` : text)
              }
              title={text.slice(0, 500)}
              className="block w-full rounded-[4px] px-2 py-1.5 text-left hover:bg-hover"
            >
              <span className="block truncate font-mono text-caption">
                <Text>{text.replaceAll(/\s+/g, " ").trim().slice(0, 80)}</Text>
              </span>
              <span className="block truncate text-ink-soft text-micro">
                {formatAge(at)} ago · {subject}
                {elapsedMs === null ? "" : ` · ${formatDuration(elapsedMs)}`}
                {outcome === "Done" ? "" : ` · ${outcome}`}
                {isCut && " · only its beginning was kept"}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Button size="dense" variant="quiet" className="mt-2" onClick={() => clearHistory(owner)}>
        Clear the history
      </Button>
    </>
  );
}
