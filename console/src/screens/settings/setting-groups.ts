/** Settings by the section of the configuration in which they stand, and the search over them. */

import type { Setting } from "@/api/settings";
import { describeOrigin } from "@/components/setting-value";
import { showExact } from "@/lib/json-text";

export interface SettingGroup {
  name: string;
  settings: Setting[];
}

/** Settings that match a text in key, value or origin, by section. With `onlyChanged` the defaults are left out. */
export function groupSettings(
  settings: readonly Setting[],
  text: string,
  onlyChanged: boolean,
): SettingGroup[] {
  const term = text.trim().toLowerCase();
  const groups = new Map<string, Setting[]>();
  for (const setting of settings) {
    if (onlyChanged && describeOrigin(setting.origin) === "default") continue;
    if (!describeSetting(setting).includes(term)) continue;
    const dot = setting.key.indexOf(".");
    const name = dot < 0 ? "project" : setting.key.slice(0, dot);
    groups.set(name, [...(groups.get(name) ?? []), setting]);
  }
  return [...groups].map(([name, members]) => ({ name, settings: members }));
}

/** A secret's value takes no part in the search, even if a server should send one. */
function describeSetting({ key, value, origin, secret }: Setting): string {
  const shown = secret ? "" : showExact(value ?? "");
  return `${key} ${shown} ${describeOrigin(origin)}`.toLowerCase();
}
