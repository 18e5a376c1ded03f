import type { Setting, SettingOrigin } from "@/api/settings";
import { Text } from "@/components/text";
import { showExact } from "@/lib/json-text";

/** A value of the configuration; empty ones are named, because nothing at all looks like a fault of the page. */
export function ValueText({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") {
    return <span className="text-ink-soft">not set</span>;
  }
  const isList = Array.isArray(value) && value.length > 0;
  const text = isList ? value.map(showExact).join("\n") : showExact(value);
  return (
    <span className="min-w-0 whitespace-pre-line break-words">
      <Text multiline>{text}</Text>
    </span>
  );
}

export function OriginLabel({ origin }: { origin: SettingOrigin }) {
  return (
    <span className="min-w-0 truncate text-ink-soft text-label" title={describeOrigin(origin)}>
      <Text>{describeOrigin(origin)}</Text>
    </span>
  );
}

/** The origin in a few words: a line of a file, a variable, a flag of the command, or the default. */
export function describeOrigin(origin: SettingOrigin): string {
  if (origin === "default") return "default";
  if ("flag" in origin) return origin.flag;
  if (!("file" in origin)) return `$${origin.environment}`;
  const place = `${origin.file}:${origin.line}`;
  return origin.environment === undefined ? place : `${place}, $${origin.environment}`;
}

/** A key with its value and where it comes from. */
export function SettingLine({ setting }: { setting: Setting }) {
  return (
    <li className="grid items-baseline gap-x-4 gap-y-0.5 px-3 py-1.5 text-caption md:grid-cols-[minmax(0,1.5fr)_minmax(0,1.2fr)_9rem] xl:grid-cols-[minmax(0,1fr)_minmax(0,1.2fr)_12rem]">
      <code className="break-words font-mono text-label leading-5">
        <Text>{setting.key}</Text>
      </code>
      {setting.secret ? (
        <span
          className="text-ink-soft"
          title="Secrets stay in the server; selvedge keys prints them."
        >
          {setting.set ? "••••••••" : "not set"}
        </span>
      ) : (
        <ValueText value={setting.value} />
      )}
      <OriginLabel origin={setting.origin} />
    </li>
  );
}
