import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useIsShown } from "@ui/use-is-shown";
import { ExternalLink, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import { isMissing } from "@/api/error";
import { useSession, whyReadOnly } from "@/api/session";
import { ConfirmDialog } from "@/components/confirm-dialog";
import { CopyButton } from "@/components/copy-button";
import { ErrorState } from "@/components/error-state";
import { Facts } from "@/components/facts";
import { SkeletonRows } from "@/components/skeleton";
import { GoneNotice, StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { Text } from "@/components/text";
import { cspNonce } from "@/lib/csp-nonce";
import { plural } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { type MailLink, prepareHtmlMail, readTextMail } from "@/lib/mail/mail-content";
import { trustInertHtml } from "@/lib/mail/trusted-html";
import { useSearchState } from "@/lib/use-search-state";
import { deleteMessage, type Message, mailKey, messageQuery } from "./api";

/** A message: who, what, its links and codes to copy, and its text in a frame that can do nothing. */
export function MessageView({ id, onDeleted }: { id: string; onDeleted: () => void }) {
  const message = useQuery(messageQuery(id));
  if (message.isPending) return <SkeletonRows rows={8} />;
  if (message.isLoadingError) {
    return (
      <ErrorState
        title="The message could not be opened"
        error={message.error}
        onRetry={() => message.refetch()}
      />
    );
  }
  const isGone = isMissing(message.error);
  return (
    <>
      {isGone ? (
        <GoneNotice>
          Somebody has deleted this message. What was read of it stays until it is closed.
        </GoneNotice>
      ) : (
        <StaleNotice query={message} />
      )}
      <LoadedMessage message={message.data} isGone={isGone} onDeleted={onDeleted} />
    </>
  );
}

interface LoadedMessageProps {
  message: Message;
  /** It was deleted meanwhile. */
  isGone: boolean;
  onDeleted: () => void;
}

function LoadedMessage({ message, isGone, onDeleted }: LoadedMessageProps) {
  const [search, change] = useSearchState();
  const html = useMemo(
    () => (message.html === null ? null : prepareHtmlMail(message.html, cspNonce() ?? "")),
    [message.html],
  );
  const text = useMemo(() => readTextMail(message.text ?? ""), [message.text]);
  const found = html ?? text;
  const codes = message.code ? [...new Set([message.code, ...found.codes])] : found.codes;
  const { links } = found;
  const views = [
    ...(html === null ? [] : [{ value: "message", label: "Message" }]),
    ...(message.text === null ? [] : [{ value: "text", label: "Text" }]),
    { value: "headers", label: "Headers" },
  ];
  const view = views.find(({ value }) => value === search.get("view")) ?? views[0];
  return (
    <>
      <header className="grid gap-2 border-line border-b bg-surface px-4 py-3">
        <div className="flex items-start gap-2">
          <h2 className="min-w-0 flex-1 font-medium text-small">
            <Text>{message.subject || "(no subject)"}</Text>
          </h2>
          {!isGone && <DeleteButton message={message} onDeleted={onDeleted} />}
        </div>
        <Facts
          facts={[
            ["From", message.from],
            ["To", message.to.join(", ")],
            ["Time", formatTime(message.time)],
          ]}
        />
        <Finds links={links} codes={codes} />
      </header>
      <Tabs
        label="Forms of the message"
        value={view?.value ?? "headers"}
        onChange={(value) => change({ view: value === views[0]?.value ? null : value })}
        tabs={views}
      >
        {view?.value === "message" && html !== null && (
          <>
            {html.removedImages > 0 && (
              <p className="border-line-soft border-b px-4 py-1.5 text-ink-soft text-label">
                {plural(html.removedImages, "image")} from elsewhere{" "}
                {html.removedImages === 1 ? "is" : "are"} not loaded, because that would tell the
                sender who reads.
              </p>
            )}
            {/* Without allow-scripts and allow-same-origin nothing in the frame runs or reaches the console. */}
            <iframe
              title={`Message: ${message.subject}`}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              srcDoc={trustInertHtml(html.html)}
              className="min-h-96 w-full flex-1 bg-white"
            />
          </>
        )}
        {view?.value === "text" && <PlainText text={message.text ?? ""} />}
        {view?.value === "headers" && (
          <PlainText
            text={message.headers.map(([name, value]) => `${name}: ${value}`).join("\n")}
          />
        )}
      </Tabs>
    </>
  );
}

function PlainText({ text }: { text: string }) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto whitespace-pre-wrap break-words p-4 font-mono text-label leading-5"
    >
      <Text multiline>{text}</Text>
    </pre>
  );
}

/** Links and codes, for which most messages are opened. */
function Finds({ links, codes }: { links: readonly MailLink[]; codes: readonly string[] }) {
  if (links.length + codes.length === 0) return null;
  return (
    <ul aria-label="Links and codes" className="grid gap-1 text-caption">
      {codes.map((code) => (
        <li key={code} className="flex items-center gap-2">
          <code className="font-medium font-mono text-small tracking-wider">{code}</code>
          <CopyButton text={code} label={`Copy code ${code}`} />
        </li>
      ))}
      {links.map(({ text, url }) => (
        <li key={url} className="flex items-center gap-1">
          <a
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            className="flex min-w-0 items-center gap-1.5 underline underline-offset-2"
            title={url}
          >
            <ExternalLink aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" />
            <span className="truncate">
              <Text>{text}</Text>
            </span>
          </a>
          <CopyButton text={url} label={`Copy link ${text}`} />
        </li>
      ))}
    </ul>
  );
}

function DeleteButton({ message, onDeleted }: { message: Message; onDeleted: () => void }) {
  const refusal = whyReadOnly(useSession());
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button
        size="dense"
        variant="quiet"
        disabled={refusal !== undefined}
        title={refusal}
        onClick={() => setAsking(true)}
      >
        <Trash2 aria-hidden="true" className="size-3.5" />
        Delete
      </Button>
      {isAsking && (
        <DeleteQuestion message={message} onDeleted={onDeleted} onClose={() => setAsking(false)} />
      )}
    </>
  );
}

interface DeleteQuestionProps {
  message: Message;
  onDeleted: () => void;
  onClose: () => void;
}

function DeleteQuestion({ message, onDeleted, onClose }: DeleteQuestionProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const remove = useMutation({
    mutationFn: () => deleteMessage(message.id),
    onSuccess: async () => {
      if (isShown()) onClose();
      onDeleted();
      await client.invalidateQueries({ queryKey: [...mailKey, "list"] });
    },
  });
  return (
    <ConfirmDialog
      title="Delete this message?"
      text="It is taken out of the inbox for everybody. It cannot be undone."
      typedName={message.to[0] ?? message.subject}
      confirmLabel="Delete message"
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}
