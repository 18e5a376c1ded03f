/** The form of a bucket: what is typed, and the settings that it means. */
import type { BucketSettings } from "./api";

export interface BucketForm {
  name: string;
  isPublic: boolean;
  /** A number with a unit, such as `5 MB`; empty for the project's limit. */
  sizeLimit: string;
  /** Types separated by commas or spaces; empty for any. */
  types: string;
}

export type BucketFaults = Partial<Record<keyof BucketForm, string>>;

const factors: Record<string, number> = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9 };

/** Bytes of a size with a decimal unit, as the service counts them; null for no limit, undefined when it is not a size. */
export function parseSize(text: string): number | null | undefined {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "") return null;
  const parts = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?$/.exec(trimmed);
  if (parts?.[1] === undefined) return undefined;
  return Math.round(Number(parts[1]) * (factors[parts[2] ?? ""] ?? 1));
}

/** The size in the largest unit in which it is a short number. */
export function writeSize(bytes: number | null): string {
  if (bytes === null) return "";
  for (const unit of ["gb", "mb", "kb"] as const) {
    const value = bytes / (factors[unit] ?? 1);
    if (value >= 1 && Number.isInteger(value * 100))
      return `${value} ${unit.toUpperCase()}`.replace("KB", "kB");
  }
  return String(bytes);
}

function parseTypes(text: string): string[] {
  return text.split(/[\s,]+/).filter((type) => type !== "");
}

export function readBucketForm(bucket: BucketSettings & { name: string }): BucketForm {
  return {
    name: bucket.name,
    isPublic: bucket.public,
    sizeLimit: writeSize(bucket.file_size_limit),
    types: (bucket.allowed_mime_types ?? []).join(", "),
  };
}

export function findBucketFaults(form: BucketForm, taken: readonly string[]): BucketFaults {
  const faults: BucketFaults = {};
  const name = form.name.trim();
  if (name === "") faults.name = "Enter a name.";
  else if (taken.includes(name)) faults.name = "A bucket of this name exists.";
  else if (!/^[A-Za-z0-9_!\-.*'() &$@=;:+,?]{1,100}$/.test(name)) {
    faults.name = "Letters without accents, digits and - _ . are safe; slashes are not possible.";
  }
  if (parseSize(form.sizeLimit) === undefined) faults.sizeLimit = "Write a size such as 5 MB.";
  const wrong = parseTypes(form.types).find(
    (type) => !/^[a-z0-9+.-]+\/([a-z0-9+.-]+|\*)$/i.test(type),
  );
  if (wrong !== undefined) faults.types = `“${wrong}” is not a type such as image/png or image/*.`;
  return faults;
}

export function settingsOf(form: BucketForm): BucketSettings {
  const types = parseTypes(form.types);
  return {
    public: form.isPublic,
    file_size_limit: parseSize(form.sizeLimit) ?? null,
    allowed_mime_types: types.length === 0 ? null : types,
  };
}
