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

/** Where a value comes from: a line of a file, a variable of the environment, or the default. */
export function OriginLabel({ origin }: { origin: unknown }) {
  return (
    <span className="min-w-0 truncate text-ink-soft text-label" title={describeOrigin(origin)}>
      <Text>{describeOrigin(origin)}</Text>
    </span>
  );
}

export function describeOrigin(origin: unknown): string {
  if (typeof origin !== "object" || origin === null) return String(origin ?? "default");
  if ("file" in origin) {
    const line = "line" in origin && origin.line !== null ? `:${String(origin.line)}` : "";
    return `${String(origin.file)}${line}`;
  }
  return "environment" in origin ? `$${String(origin.environment)}` : "default";
}
