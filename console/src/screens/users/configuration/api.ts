/** How Auth is configured, and trials of it. It is changed in files, not here. */
import { queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";

export interface Fault {
  /** The dotted key that it is about, or the beginning of several. */
  key: string;
  severity: "error" | "warning" | "note";
  message: string;
  remedy: string;
}

export interface ConfiguredProvider {
  name: string;
  callback_url: string;
  /** Whether the development identity provider answers in its place. */
  answered_locally: boolean;
}

export interface ConfiguredMail {
  name: string;
  section: "template" | "notification";
  enabled: boolean;
  /** Whether the project has a template of its own. */
  custom: boolean;
}

export interface AuthConfiguration {
  auth_url: string;
  providers: ConfiguredProvider[];
  other_providers: string[];
  mails: ConfiguredMail[];
  hooks: string[];
  faults: Fault[];
}

export const configurationQuery = queryOptions({
  queryKey: ["auth", "configuration"],
  queryFn: ({ signal }) => request<AuthConfiguration>("/api/auth/configuration", { signal }),
});

const trial = <T>(json: Record<string, unknown>, signal?: AbortSignal) =>
  request<T>("/api/auth/configuration/trials", { json, signal });

export interface ProviderTrial {
  /** The sign-in page without its parameters. */
  address: string;
  status: number;
  elapsed_ms: number;
}

export const tryProvider = (name: string) => trial<ProviderTrial>({ kind: "provider", name });

export interface HookTrial {
  input: unknown;
  output: unknown;
  /** The sentence with which the hook refused, or why it could not be called. */
  refusal: string | null;
  elapsed_ms: number;
}

export const tryHook = (name: string, userId: string) =>
  trial<HookTrial>({ kind: "hook", name, ...(userId !== "" && { user_id: userId }) });

export const tryRedirect = (url: string) => trial<{ allowed: boolean }>({ kind: "redirect", url });

export interface SampleMail {
  subject: string;
  html: string;
  text: string;
}

export const sampleMailQuery = (name: string) =>
  queryOptions({
    queryKey: ["auth", "mail", name],
    queryFn: ({ signal }) => trial<SampleMail>({ kind: "mail", name }, signal),
  });
