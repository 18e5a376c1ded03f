/** The lower half of the explorer: the request in three forms, sending it as any subject, and the answer. */
import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { isSameValue } from "@ui/merge-edit";
import { Send } from "lucide-react";
import { useState } from "react";
import { useSession, whyReadOnly } from "@/api/session";
import type { Subject } from "@/api/subject";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { ErrorNotice } from "@/components/error-state";
import { Kbd } from "@/components/kbd";
import { OldAnswer } from "@/components/old-answer";
import { SubjectPicker } from "@/components/subject-picker";
import { Tabs } from "@/components/tabs";
import { Text } from "@/components/text";
import { formatBytes, formatDuration } from "@/lib/format";
import { useShortcut } from "@/lib/shortcuts";
import { type ApiRequest, isWrite, toCurl, toHttp, toSupabaseJs } from "./api-request";
import { type LiveAnswer, sendRequest } from "./send-request";

interface LiveRequestProps {
  request: ApiRequest;
  /** A sentence that says what is missing in the form; null when it is complete. */
  problem: string | null;
}

export function LiveRequest({ request, problem }: LiveRequestProps) {
  const session = useSession();
  const [language, setLanguage] = useState("supabase-js");
  const [subject, setSubject] = useState<Subject>({ kind: "anon" });
  const readOnly = isWrite(request) ? whyReadOnly(session) : undefined;
  const question = { request, subject };
  const live = useMutation({
    mutationFn: (sent: typeof question) => sendRequest(sent.request, sent.subject),
  });
  const send = () => {
    if (problem === null && readOnly === undefined) live.mutate(question);
  };
  useShortcut({
    keys: "mod+enter",
    label: "Send the request",
    group: "API",
    inFields: true,
    run: send,
  });
  const { method, path } = toHttp(request);
  const code = language === "curl" ? toCurl(request, session.api_url ?? "") : toSupabaseJs(request);
  return (
    <div className="space-y-4">
      <div className="rounded-md border border-line bg-surface">
        <Tabs
          label="Form of the request"
          value={language}
          onChange={setLanguage}
          tabs={[
            { value: "supabase-js", label: "supabase-js" },
            { value: "curl", label: "curl" },
          ]}
        >
          <div className="p-3">
            <CodeBlock code={code} label={language} />
            {language === "curl" && (
              <p className="mt-1.5 text-ink-soft text-label">
                $SUPABASE_KEY is your publishable or secret key.
              </p>
            )}
          </div>
        </Tabs>
        <div className="flex flex-wrap items-center gap-2 border-line border-t px-3 py-2">
          <Button
            size="dense"
            variant="primary"
            pending={live.isPending}
            disabled={problem !== null || readOnly !== undefined}
            title={readOnly ?? problem ?? undefined}
            onClick={send}
          >
            <Send aria-hidden="true" className="size-3.5" />
            Send
            <span className="max-md:hidden">
              <Kbd keys="mod+enter" />
            </span>
          </Button>
          <span className="text-caption text-ink-soft">as</span>
          <SubjectPicker verb="Send as" value={subject} onChange={setSubject} without={["admin"]} />
          <code className="min-w-0 flex-1 truncate text-right font-mono text-caption text-ink-soft">
            {method} <Text>{`/rest/v1${path}`}</Text>
          </code>
        </div>
        {(problem ?? readOnly) !== undefined && (problem ?? readOnly) !== null && (
          <p className="border-line border-t px-3 py-1.5 text-caption text-ink-soft">
            {problem ?? readOnly}
          </p>
        )}
      </div>
      {live.isError && <ErrorNotice title="The request was not sent" error={live.error} />}
      {live.data !== undefined && (
        <div>
          {!isSameValue(live.variables, question) && <OldAnswer />}
          <Answer answer={live.data} />
        </div>
      )}
    </div>
  );
}

function Answer({ answer }: { answer: LiveAnswer }) {
  const { status, statusText, elapsedMs, headers, body, bytes, isCut } = answer;
  const tone = status < 300 ? "success" : status < 400 ? "info" : "danger";
  return (
    <section aria-label="Answer" aria-live="polite" className="space-y-3">
      <p className="flex flex-wrap items-center gap-2 text-caption">
        <Badge tone={tone}>
          {status} {statusText}
        </Badge>
        <span className="text-ink-soft tabular-nums">
          {formatDuration(elapsedMs)} · {formatBytes(bytes)}
        </span>
      </p>
      <details className="rounded-sm border border-line bg-surface px-3 py-2">
        <summary className="text-caption">Headers</summary>
        <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-0.5 font-mono text-caption">
          {headers.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-soft">{name}</dt>
              <dd className="break-words">
                <Text>{value}</Text>
              </dd>
            </div>
          ))}
        </dl>
      </details>
      {body === "" ? (
        <p className="text-caption text-ink-soft">The answer has no body.</p>
      ) : (
        <CodeBlock code={body} label="body" />
      )}
      {isCut && (
        <p className="text-caption text-ink-soft">Only the beginning of the answer is shown.</p>
      )}
    </section>
  );
}
