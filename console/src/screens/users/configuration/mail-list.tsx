import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import type { Setting } from "@/api/settings";
import { Badge } from "@/components/badge";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { describeOrigin, ValueText } from "@/components/setting-value";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Text } from "@/components/text";
import { cspNonce } from "@/lib/csp-nonce";
import { prepareHtmlMail } from "@/lib/mail/mail-content";
import { trustInertHtml } from "@/lib/mail/trusted-html";
import { type ConfiguredMail, sampleMailQuery } from "./api";

interface MailListProps {
  mails: readonly ConfiguredMail[];
  settings: readonly Setting[];
}

/** All mails that Auth sends, with the origin of their texts and a preview. */
export function MailList({ mails, settings }: MailListProps) {
  const [shown, setShown] = useState<ConfiguredMail | null>(null);
  return (
    <>
      <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
        {mails.map((mail) => (
          <li
            key={mail.name}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1 pr-1.5 pl-3 text-caption"
          >
            <code className="w-48 max-md:flex-1 font-mono text-label">{mail.name}</code>
            {!mail.enabled && <Badge>off</Badge>}
            <span className="min-w-0 flex-1 max-md:order-last max-md:basis-full">
              {mail.custom ? (
                <Sources mail={mail} settings={settings} />
              ) : (
                <span className="text-ink-soft">built-in text</span>
              )}
            </span>
            <Button size="dense" variant="quiet" onClick={() => setShown(mail)}>
              Preview
            </Button>
          </li>
        ))}
      </ul>
      {shown !== null && <MailPreview mail={shown} onClose={() => setShown(null)} />}
    </>
  );
}

/** Subject and template file that the project has set, each with its line in config.toml. */
function Sources({ mail, settings }: { mail: ConfiguredMail; settings: readonly Setting[] }) {
  const start = `auth.email.${mail.section}.${mail.name}.`;
  const set = settings.filter(
    ({ key, set }) => set && (key === `${start}subject` || key === `${start}content_path`),
  );
  return (
    <span className="grid gap-0.5">
      {set.map(({ key, value, origin }) => (
        <span key={key} className="flex flex-wrap gap-x-2">
          <span className="text-ink-soft">{key.slice(start.length)}</span>
          <ValueText value={value} />
          <span className="text-ink-soft text-label">
            <Text>{describeOrigin(origin)}</Text>
          </span>
        </span>
      ))}
    </span>
  );
}

function MailPreview({ mail, onClose }: { mail: ConfiguredMail; onClose: () => void }) {
  const sample = useQuery(sampleMailQuery(mail.name));
  const { data } = sample;
  return (
    <Dialog
      title={`Mail ${mail.name}`}
      description="With invented data; its link leads nowhere. Scripts and images from elsewhere are left out here."
      width="wide"
      onClose={onClose}
      footer={
        <Button size="dense" onClick={onClose}>
          Close
        </Button>
      }
    >
      <StaleNotice query={sample} />
      {sample.isLoadingError ? (
        <ErrorNotice
          title="The mail could not be rendered"
          error={sample.error}
          onRetry={() => void sample.refetch()}
        />
      ) : data === undefined ? (
        <SkeletonRows rows={6} />
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
          <p className="text-caption">
            <span className="text-ink-soft">Subject </span>
            <strong className="font-medium">
              <Text>{data.subject}</Text>
            </strong>
          </p>
          {/* Without allow-scripts and allow-same-origin nothing in the frame runs or reaches the console. */}
          <iframe
            title={`Preview of ${mail.name}`}
            sandbox=""
            srcDoc={trustInertHtml(prepareHtmlMail(data.html, cspNonce() ?? "").html)}
            className="h-[55vh] w-full rounded-sm border border-line bg-white"
          />
          <details className="text-caption">
            <summary className="cursor-pointer text-ink-soft">As plain text</summary>
            <pre className="mt-2 whitespace-pre-wrap break-words font-mono text-label leading-5">
              <Text multiline>{data.text}</Text>
            </pre>
          </details>
        </div>
      )}
    </Dialog>
  );
}
