/** Requests of the mail screen: the inbox of a development server, or the outgoing queue of a production one. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request, withQuery } from "@/api/client";

export interface MailSummary {
  id: string;
  time: string;
  from: string;
  to: string[];
  subject: string;
  snippet: string;
  kind: "mail" | "sms";
  /** Whether the mail was opened. */
  read?: boolean;
}

/** A message that could not be handed over yet. */
export interface OutgoingMail {
  id: string;
  to: string[] | string;
  subject: string;
  attempts: number;
  next_attempt_at: string | null;
  error: string | null;
}

export interface MailPage {
  messages: MailSummary[];
  next: string | null;
  outgoing?: OutgoingMail[];
}

export interface Message extends MailSummary {
  html: string | null;
  text: string | null;
  /** Names and values as they arrived, in their order. */
  headers: [string, string][];
  /** The code of a text message. */
  code?: string | null;
}

export const mailKey = ["mail"];

export function mailQuery(search: string) {
  return infiniteQueryOptions({
    queryKey: [...mailKey, "list", search],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      request<MailPage>(withQuery("/api/mail", { search, before: pageParam }), { signal }),
    getNextPageParam: (page) => page.next,
    // Polled often, because a person who has just sent a mail waits for it here.
    refetchInterval: 2000,
  });
}

export function messageQuery(id: string) {
  return queryOptions({
    queryKey: [...mailKey, "one", id],
    queryFn: ({ signal }) => request<Message>(`/api/mail/${encodeURIComponent(id)}`, { signal }),
    // It never changes, and may be deleted by somebody else.
    staleTime: 5000,
    retry: false,
  });
}

export function deleteMessage(id: string): Promise<void> {
  return request(`/api/mail/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export function retryMessage(id: string): Promise<void> {
  return request(`/api/mail/${encodeURIComponent(id)}/retry`, { method: "POST" });
}
