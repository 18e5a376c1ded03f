import { Text } from "@/components/text";

/** A value of the configuration; empty ones are named, because nothing at all looks like a fault of the page. */
export function ValueText({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") {
    return <span className="text-ink-soft">not set</span>;
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <span className="min-w-0 break-words">
      <Text multiline>{text}</Text>
    </span>
  );
}

/** Where a value comes from, as the server tells it. */
export type SettingOrigin =
  | { file: string; line: number; environment?: string }
  | { environment: string }
  | { flag: string }
  | "default";

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
