import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { Setting } from "@/api/settings";
import { Badge } from "@/components/badge";
import { CopyButton } from "@/components/copy-button";
import { Text } from "@/components/text";
import { formatDuration } from "@/lib/format";
import { type ConfiguredProvider, type ProviderTrial, tryProvider } from "./api";
import { Card, SettingLines } from "./part";
import { judgeStatus } from "./sections";

interface ProviderCardProps {
  provider: ConfiguredProvider;
  settings: readonly Setting[];
}

/** An enabled provider: a button to request its sign-in page, its callback URL, and its settings. */
export function ProviderCard({ provider, settings }: ProviderCardProps) {
  const { name, callback_url: callback, answered_locally: isLocal } = provider;
  const attempt = useMutation({ mutationFn: () => tryProvider(name) });
  return (
    <Card
      name={name}
      badge={isLocal ? <Badge tone="info">answered on this machine</Badge> : <Badge>on</Badge>}
      action={
        <Button size="dense" pending={attempt.isPending} onClick={() => attempt.mutate()}>
          Request its sign-in page
        </Button>
      }
    >
      <Outcome trial={attempt.data} error={attempt.error} />
      <p className="flex flex-wrap items-center gap-x-2 px-3 py-1.5 text-caption">
        <span className="text-ink-soft">Callback URL to register with the provider:</span>
        <code className="break-all font-mono text-label">
          <Text>{callback}</Text>
        </code>
        <CopyButton text={callback} label={`Copy the callback URL of ${name}`} />
      </p>
      <SettingLines settings={settings} />
    </Card>
  );
}

function Outcome({ trial, error }: { trial: ProviderTrial | undefined; error: Error | null }) {
  if (error !== null) {
    return (
      <p role="alert" className="flex items-start gap-2 px-3 pt-2 text-caption">
        <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-danger" />
        <span className="min-w-0 break-words">
          <Text multiline>{error.message}</Text>
        </span>
      </p>
    );
  }
  if (trial === undefined) return null;
  const { isFine, text } = judgeStatus(trial.status);
  return (
    <p role="status" className="flex items-start gap-2 px-3 pt-2 text-caption">
      {isFine ? (
        <CircleCheck aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-success" />
      ) : (
        <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-warning" />
      )}
      <span className="min-w-0 break-words">
        {text}{" "}
        <span className="text-ink-soft">
          <Text>{trial.address}</Text>, {formatDuration(trial.elapsed_ms)}
        </span>
      </span>
    </p>
  );
}
