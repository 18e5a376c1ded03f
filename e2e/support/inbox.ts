// Reads the development inbox through its Mailpit API, as a person reads their mail.

import { inject } from "vitest";

/** The link of the newest mail to this address. Mail is delivered before sign-up answers. */
export async function confirmationLink(email: string): Promise<string> {
  const found = await read<{ messages: { ID: string }[] }>(
    `/api/v1/search?query=${encodeURIComponent(`to:"${email}"`)}`,
  );
  const newest = found.messages[0];
  if (!newest) {
    throw new Error(`no mail to ${email} in the inbox`);
  }
  const mail = await read<{ HTML: string }>(`/api/v1/message/${newest.ID}`);
  const href = /href="([^"]*\/auth\/v1\/verify[^"]*)"/.exec(mail.HTML)?.[1];
  if (!href) {
    throw new Error(`the mail to ${email} holds no confirmation link`);
  }
  return href.replaceAll("&amp;", "&");
}

async function read<T>(path: string): Promise<T> {
  const response = await fetch(inject("inboxUrl") + path);
  if (!response.ok) {
    throw new Error(`inbox answered ${response.status} to ${path}`);
  }
  return (await response.json()) as T;
}
