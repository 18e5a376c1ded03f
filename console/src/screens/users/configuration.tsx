import { useQuery } from "@tanstack/react-query";
import { CircleAlert, Settings2 } from "lucide-react";
import { EmptyState } from "@/components/empty-state";
import { ErrorState } from "@/components/error-state";
import { OriginLabel, ValueText } from "@/components/setting-value";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { type ConfigurationItem, configurationQuery } from "./api";

const groupLabels: Record<string, string> = {
  providers: "Providers",
  urls: "URLs",
  templates: "Templates of mails",
  hooks: "Hooks",
};

/** What Auth works with: every value with where it comes from and what is wrong with it. It is changed in files, not here. */
export function Configuration() {
  const configuration = useQuery(configurationQuery);
  if (configuration.isPending) return <SkeletonRows rows={12} />;
  if (configuration.isError) {
    return (
      <ErrorState
        title="The configuration could not be loaded"
        error={configuration.error}
        onRetry={() => configuration.refetch()}
      />
    );
  }
  const { items } = configuration.data;
  const groups = [...new Set(items.map(({ group }) => group))];
  if (items.length === 0) {
    return <EmptyState icon={Settings2} title="Nothing is configured beside the defaults." />;
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      <p className="mb-4 max-w-2xl text-caption text-ink-soft">
        These values come from <code className="font-mono">config.toml</code> and the environment,
        and are changed there.
      </p>
      <div className="grid max-w-4xl gap-6">
        {groups.map((group) => (
          <section key={group} aria-label={groupLabels[group] ?? group}>
            <h2 className="mb-1.5 font-medium text-small">{groupLabels[group] ?? group}</h2>
            <ul className="divide-y divide-line-soft rounded-md border border-line bg-surface">
              {items
                .filter((item) => item.group === group)
                .map((item) => (
                  <Item key={item.key} item={item} />
                ))}
            </ul>
          </section>
        ))}
      </div>
    </div>
  );
}

function Item({ item }: { item: ConfigurationItem }) {
  return (
    <li className="grid gap-x-4 gap-y-1 px-3 py-2 text-caption md:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_12rem]">
      <code className="break-words font-mono text-label">
        <Text>{item.key}</Text>
      </code>
      <ValueText value={item.value} />
      <OriginLabel origin={item.origin} />
      {item.faults.map((fault) => (
        <p key={fault} className="flex gap-2 text-danger md:col-span-3">
          <CircleAlert aria-hidden="true" className="mt-0.5 size-3.5 shrink-0" />
          <Text>{fault}</Text>
        </p>
      ))}
    </li>
  );
}
