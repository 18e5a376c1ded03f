import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { CircleAlert, CircleCheck, RotateCw, TriangleAlert, UserRound } from "lucide-react";
import { useSession } from "@/api/session";
import { settingsQuery } from "@/api/settings";
import { Badge } from "@/components/badge";
import { CodeBlock } from "@/components/code-block";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { Checkbox } from "@/components/input";
import { ScreenLayout } from "@/components/screen-layout";
import { SearchInput } from "@/components/search-input";
import { SettingLine } from "@/components/setting-value";
import { SkeletonRows } from "@/components/skeleton";
import { StaleNotice } from "@/components/stale-notice";
import { Tabs } from "@/components/tabs";
import { MarkedText, Text } from "@/components/text";
import { plural } from "@/lib/format";
import { formatTime } from "@/lib/format-time";
import { useSearchState } from "@/lib/use-search-state";
import { accountsQuery, type Check, doctorQuery, type Member } from "./api";
import { groupSettings } from "./setting-groups";

const tabs = [
  { value: "settings", label: "Settings" },
  { value: "doctor", label: "Doctor" },
  { value: "accounts", label: "Accounts" },
] as const;

/** Effective settings with their origin, the doctor's checks, and the accounts of the console. All of it is changed in files. */
export function Screen() {
  const [search, change] = useSearchState();
  const tab = tabs.find(({ value }) => value === search.get("tab"))?.value ?? "settings";
  return (
    <ScreenLayout title="Settings" scrolls={false}>
      <Tabs
        label="Parts of the settings"
        value={tab}
        onChange={(value) => change({ tab: value === "settings" ? null : value })}
        tabs={tabs}
      >
        <div className="min-h-0 flex-1 overflow-y-auto">
          {tab === "settings" && <Settings />}
          {tab === "doctor" && <Doctor />}
          {tab === "accounts" && <Accounts />}
        </div>
      </Tabs>
    </ScreenLayout>
  );
}

/** The settings that are not defaults. The hundreds of defaults are shown on demand, and every search includes them. */
function Settings() {
  const [search, change] = useSearchState();
  const find = search.get("find") ?? "";
  const showsDefaults = search.get("defaults") === "1";
  const settings = useQuery(settingsQuery);
  if (settings.isPending) return <SkeletonRows rows={14} />;
  if (settings.isLoadingError) {
    return (
      <ErrorState
        title="The settings could not be loaded"
        error={settings.error}
        onRetry={() => settings.refetch()}
      />
    );
  }
  const groups = groupSettings(settings.data, find, !showsDefaults && find === "");
  return (
    <div className="grid max-w-5xl grid-cols-[minmax(0,1fr)] gap-5 p-4 max-md:p-3">
      <StaleNotice query={settings} />
      <div className="flex flex-wrap items-center gap-3">
        <SearchInput
          label="Search settings"
          className="w-72 max-md:w-full"
          value={find}
          onChange={(value) => {
            if (value !== find) change({ find: value }, { replace: true });
          }}
        />
        <label htmlFor="shows-defaults" className="flex items-center gap-2 text-caption">
          <Checkbox
            id="shows-defaults"
            checked={showsDefaults}
            onChange={(event) => change({ defaults: event.target.checked ? "1" : null })}
          />
          Show defaults
        </label>
      </div>
      {groups.length === 0 && (
        <p className="text-caption text-ink-soft">
          {find === "" ? "Everything has its default." : "No setting matches this text."}
        </p>
      )}
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <h2 className="mb-1.5 font-medium font-mono text-caption">[{group.name}]</h2>
          <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
            {group.settings.map((setting) => (
              <SettingLine key={setting.key} setting={setting} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

const checkIcons = {
  ok: <CircleCheck aria-label="ok" className="mt-0.5 size-4 shrink-0 text-success" />,
  warning: <TriangleAlert aria-label="warning" className="mt-0.5 size-4 shrink-0 text-warning" />,
  error: <CircleAlert aria-label="error" className="mt-0.5 size-4 shrink-0 text-danger" />,
};

const checkOrder: Record<Check["status"], number> = { error: 0, warning: 1, ok: 2 };

function Doctor() {
  const doctor = useQuery(doctorQuery);
  if (doctor.isPending) return <SkeletonRows rows={8} />;
  if (doctor.isLoadingError) {
    return (
      <ErrorState
        title="The checks could not be run"
        error={doctor.error}
        onRetry={() => doctor.refetch()}
      />
    );
  }
  const checks = doctor.data.checks.toSorted(
    (one, other) => checkOrder[one.status] - checkOrder[other.status],
  );
  const faults = checks.filter(({ status }) => status !== "ok").length;
  return (
    <div className="grid max-w-4xl grid-cols-[minmax(0,1fr)] gap-3 p-4 max-md:p-3">
      <StaleNotice query={doctor} />
      <div className="flex items-center justify-between gap-3">
        <p role="status" className="text-caption text-ink-soft">
          {faults === 0
            ? `All ${checks.length} checks passed.`
            : `${plural(faults, "check")} of ${checks.length} found something.`}
        </p>
        <Button size="dense" pending={doctor.isFetching} onClick={() => doctor.refetch()}>
          <RotateCw aria-hidden="true" className="size-3.5" />
          Check again
        </Button>
      </div>
      <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
        {checks.map((check) => (
          <li key={check.name} className="flex gap-3 px-3 py-2.5 text-caption">
            {checkIcons[check.status]}
            <div className="grid min-w-0 flex-1 gap-1">
              <p className="font-medium">
                <Text>{check.name}</Text>
              </p>
              <p className="break-words text-ink-soft">
                <MarkedText>{check.message}</MarkedText>
              </p>
              {check.remedy !== null && (
                <p className="break-words">
                  <MarkedText>{check.remedy}</MarkedText>
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Accounts() {
  const { login, sign_in: ways } = useSession();
  const accounts = useQuery(accountsQuery);
  if (accounts.isPending) return <SkeletonRows rows={4} />;
  if (accounts.isLoadingError) {
    return (
      <ErrorState
        title="The accounts could not be loaded"
        error={accounts.error}
        onRetry={() => accounts.refetch()}
      />
    );
  }
  const command = "selvedge console user add NAME --level viewer";
  return (
    <div
      className={cn(
        "grid grid-cols-[minmax(0,1fr)] gap-4 p-4 max-md:p-3",
        accounts.data.accounts.length > 0 && "max-w-3xl",
      )}
    >
      <StaleNotice query={accounts} />
      {accounts.data.accounts.length === 0 ? (
        <EmptyState
          icon={UserRound}
          title="There are no accounts."
          text={
            login
              ? "Nobody can sign in before this command has made an account on the server:"
              : "Nobody signs in to this console, because only this machine reaches it. With login = true under [selvedge.console] it asks for an account, which this command makes:"
          }
          action={<CodeBlock label="command" code={command} />}
        />
      ) : (
        <>
          <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
            {accounts.data.accounts.map((account) => (
              <AccountLine
                key={account.name}
                name={account.name}
                level={account.level}
                note={
                  account.last_sign_in_at === null
                    ? "never signed in"
                    : `signed in ${formatTime(account.last_sign_in_at)}`
                }
              />
            ))}
          </ul>
          <div className="grid gap-1.5">
            <p className="text-caption text-ink-soft">
              This command makes another account on the server:
            </p>
            <CodeBlock label="command" code={command} />
          </div>
        </>
      )}
      {ways?.project === true && <Members members={accounts.data.members} />}
    </div>
  );
}

interface AccountLineProps {
  name: string;
  level: string;
  note: string;
  isWarning?: boolean;
}

/** Name, level and a note in columns; on phones the note has a line of its own. */
function AccountLine({ name, level, note, isWarning = false }: AccountLineProps) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-0.5 px-3 py-2 text-caption md:grid-cols-[minmax(0,1fr)_4rem_16rem]">
      <span className="truncate font-medium" title={name}>
        <Text>{name}</Text>
      </span>
      <span>
        <Badge tone={level === "admin" ? "warning" : "neutral"}>{level}</Badge>
      </span>
      <span
        className={cn(
          "max-md:col-span-2 md:text-right",
          isWarning ? "text-warning" : "text-ink-soft",
        )}
      >
        {note}
      </span>
    </li>
  );
}

/** The project's users who may sign in to the console: those with a level in their app_metadata. */
function Members({ members }: { members: readonly Member[] }) {
  return (
    <section aria-label="Users of the project">
      <h2 className="mb-1.5 font-medium text-caption">Users of the project</h2>
      {members.length === 0 ? (
        <p className="text-caption text-ink-soft">
          No user has a level. An admin gives one in the user's app_metadata: console = "viewer" or
          "admin".
        </p>
      ) : (
        <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
          {members.map(({ name, level, has_factor: hasFactor }) => (
            <AccountLine
              key={name}
              name={name}
              level={level}
              note={hasFactor ? "with a second factor" : "cannot sign in without a second factor"}
              isWarning={!hasFactor}
            />
          ))}
        </ul>
      )}
    </section>
  );
}
