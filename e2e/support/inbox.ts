// Reads mail from the development inbox through its Mailpit API.

import { inboxUrl } from "./address.ts";

/**
 * The link in the newest mail to this address. The development server delivers mail before it responds, so no waiting
 * is needed.
 */
export async function confirmationLink(email: string): Promise<string> {
  const href = /href="([^"]*\/auth\/v1\/verify[^"]*)"/.exec((await newestMail(email)).HTML)?.[1];
  if (!href) {
    throw new Error(`the mail to ${email} contains no confirmation link`);
  }
  return href.replaceAll("&amp;", "&");
}

/** The six-digit code in the newest mail to this address. */
export async function oneTimeCode(email: string): Promise<string> {
  const code = /\b\d{6}\b/.exec((await newestMail(email)).Text)?.[0];
  if (!code) {
    throw new Error(`the mail to ${email} contains no code`);
  }
  return code;
}

/** All mails to this address, the newest first. */
export async function listMails(email: string): Promise<{ Subject: string; Text: string }[]> {
  const query = encodeURIComponent(`to:"${email}"`);
  const found = await read<{ messages: { ID: string }[] }>(`/api/v1/search?query=${query}`);
  return Promise.all(
    found.messages.map(({ ID }) =>
      read<{ Subject: string; Text: string }>(`/api/v1/message/${ID}`),
    ),
  );
}

/** The headers of the newest mail to this address, by their names. */
export async function newestHeaders(email: string): Promise<Record<string, string[]>> {
  const query = encodeURIComponent(`to:"${email}"`);
  const found = await read<{ messages: { ID: string }[] }>(`/api/v1/search?query=${query}`);
  return read(`/api/v1/message/${found.messages[0]?.ID}/headers`);
}

async function newestMail(email: string): Promise<{ HTML: string; Text: string }> {
  const found = await read<{ messages: { ID: string }[] }>(
    `/api/v1/search?query=${encodeURIComponent(`to:"${email}"`)}`,
  );
  const newest = found.messages[0];
  if (!newest) {
    throw new Error(`no mail to ${email} in the inbox`);
  }
  return read(`/api/v1/message/${newest.ID}`);
}

async function read<T>(path: string): Promise<T> {
  const response = await fetch(inboxUrl() + path);
  if (!response.ok) {
    throw new Error(`inbox responded ${response.status} to ${path}`);
  }
  return (await response.json()) as T;
}
