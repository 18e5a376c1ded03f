import { useQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { Link } from "react-router";
import { useSession } from "@/api/session";
import { type Setting, settingsQuery } from "@/api/settings";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { type AuthConfiguration, configurationQuery } from "./api";
import { FaultList } from "./fault-list";
import { HookCard } from "./hook-card";
import { MailList } from "./mail-list";
import { Part, SettingLines } from "./part";
import { ProviderCard } from "./provider-card";
import { RedirectTrial } from "./redirect-trial";
import { settingsBelow, sortFaults, urlSettings } from "./sections";

/** Auth's configuration: URLs, providers, mails and hooks, each with the origin of its settings, faults and a test call. */
export function Configuration() {
  const session = useSession();
  const isViewer = session.read_only === true || session.account?.level === "viewer";
  const configuration = useQuery({ ...configurationQuery, enabled: !isViewer });
  const settings = useQuery({ ...settingsQuery, enabled: !isViewer });
  if (isViewer) {
    return (
      <EmptyState
        icon={Lock}
        title="Admins see the configuration"
        text="It names hosts, folders and faults of the deployment."
      />
    );
  }
  const { data: known } = configuration;
  const { data: listed } = settings;
  const error = configuration.error ?? settings.error;
  if (known === undefined || listed === undefined) {
    return error === null ? (
      <SkeletonRows rows={12} />
    ) : (
      <ErrorState
        title="The configuration could not be read"
        error={error}
        onRetry={() => {
          void configuration.refetch();
          void settings.refetch();
        }}
      />
    );
  }
  return (
    <>
      <StaleNotice query={configuration} />
      <StaleNotice query={settings} />
      <Loaded configuration={known} settings={listed} />
    </>
  );
}

interface LoadedProps {
  configuration: AuthConfiguration;
  settings: readonly Setting[];
}

function Loaded({ configuration, settings }: LoadedProps) {
  const { faults, providers, other_providers: others, hooks, mails } = configuration;
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-7 p-4 max-md:p-3">
        <p className="text-caption text-ink-soft">
          This is what the server runs with. It is changed in config.toml and the environment, and
          read at the next start. All keys of Auth are in the{" "}
          <Link to="/settings?find=auth.&defaults=1" className="underline underline-offset-2">
            settings
          </Link>
          .
        </p>
        {faults.length > 0 && (
          <Part title="To look at" text="What does not work, or may not work as it is meant.">
            <FaultList faults={sortFaults(faults)} />
          </Part>
        )}
        <Part title="Addresses" text="Where browsers are sent after a sign-in or a link in a mail.">
          <div className="rounded-md border border-line bg-surface">
            <SettingLines settings={urlSettings(settings)} />
            <RedirectTrial />
          </div>
        </Part>
        <Part
          title="Providers"
          text={
            providers.length === 0
              ? "No provider is enabled below [auth.external]."
              : "Other accounts with which users sign in."
          }
        >
          {providers.map((provider) => (
            <ProviderCard
              key={provider.name}
              provider={provider}
              settings={settingsBelow(settings, `auth.external.${provider.name}`)}
            />
          ))}
          <details className="text-caption text-ink-soft">
            <summary className="cursor-pointer">{others.length} more are off</summary>
            <p className="mt-1">{others.join(", ")}</p>
          </details>
        </Part>
        <Part
          title="Hooks"
          text={
            hooks.length === 0
              ? "No hook is enabled below [auth.hook]."
              : "Functions and endpoints of the project that Auth asks before it goes on."
          }
        >
          {hooks.map((name) => (
            <HookCard
              key={name}
              name={name}
              settings={settingsBelow(settings, `auth.hook.${name}`)}
            />
          ))}
        </Part>
        <Part title="Mails" text="Subjects and templates, as they were read at the start.">
          <MailList mails={mails} settings={settings} />
        </Part>
      </div>
    </div>
  );
}
