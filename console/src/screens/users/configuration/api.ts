/** Auth's configuration and test calls. The console only shows it; it is changed in config.toml. */
import { queryOptions } from "@tanstack/react-query";
import { type RequestOptions, request } from "@/api/client";
import { parseExactMembers } from "@/lib/json-text";

export interface Fault {
  /** The dotted key of the setting at fault, or the common prefix of several. */
  key: string;
  severity: "error" | "warning" | "note";
  message: string;
  remedy: string;
}

export interface ConfiguredProvider {
  name: string;
  callback_url: string;
  /** Whether the development identity provider replaces it. */
  answered_locally: boolean;
}

export interface ConfiguredMail {
  name: string;
  section: "template" | "notification";
  enabled: boolean;
  /** Whether the project has its own template. */
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

const trial = <T>(
  json: Record<string, unknown>,
  options: Pick<RequestOptions, "signal" | "parse"> = {},
) => request<T>("/api/auth/configuration/trials", { json, ...options });

export interface ProviderTrial {
  /** URL of the sign-in page without its query string. */
  address: string;
  status: number;
  elapsed_ms: number;
}

export const tryProvider = (name: string) => trial<ProviderTrial>({ kind: "provider", name });

export interface HookTrial {
  /** With numbers as `parseExact` has them, and so is the output. */
  input: unknown;
  output: unknown;
  /** The hook's error message, or the reason why it could not be called; null after a success. */
  refusal: string | null;
  elapsed_ms: number;
}

export const tryHook = (name: string, userId: string) =>
  trial<HookTrial>(
    { kind: "hook", name, ...(userId !== "" && { user_id: userId }) },
    { parse: (text) => parseExactMembers(text, ["input", "output"]) },
  );

export const tryRedirect = (url: string) => trial<{ allowed: boolean }>({ kind: "redirect", url });

export interface SampleMail {
  subject: string;
  html: string;
  text: string;
}

export const sampleMailQuery = (name: string) =>
  queryOptions({
    queryKey: ["auth", "mail", name],
    queryFn: ({ signal }) => trial<SampleMail>({ kind: "mail", name }, { signal }),
  });
