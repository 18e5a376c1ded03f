/** Assigns the configuration's keys to the sections of the screen. */
import type { Setting } from "@/api/settings";
import type { Fault } from "./api";

/** Keys of the URLs to which Auth redirects browsers. */
const urlKeys = [
  "auth.site_url",
  "auth.additional_redirect_urls",
  "auth.external_url",
  "auth.jwt_issuer",
];

export function urlSettings(settings: readonly Setting[]): Setting[] {
  return urlKeys.flatMap((key) => settings.filter((setting) => setting.key === key));
}

/** The settings below a key, such as `auth.external.github`. */
export function settingsBelow(settings: readonly Setting[], key: string): Setting[] {
  return settings.filter((setting) => setting.key.startsWith(`${key}.`));
}

/** The faults of a key and of the keys below it. */
export function faultsBelow(faults: readonly Fault[], key: string): Fault[] {
  return faults.filter((fault) => fault.key === key || fault.key.startsWith(`${key}.`));
}

const severities: Fault["severity"][] = ["error", "warning", "note"];

export function sortFaults(faults: readonly Fault[]): Fault[] {
  return faults.toSorted(
    (one, other) => severities.indexOf(one.severity) - severities.indexOf(other.severity),
  );
}

/** Whether an HTTP status of a provider's sign-in page means that sign-ins work, and a sentence that says so. */
export function judgeStatus(status: number): { isFine: boolean; text: string } {
  if (status < 400) return { isFine: true, text: `It answers with ${status}.` };
  if (status < 500) {
    return {
      isFine: false,
      text: `It answers with ${status}: client id or callback URL may not be registered there.`,
    };
  }
  return { isFine: false, text: `It answers with ${status}, a fault of the provider.` };
}
