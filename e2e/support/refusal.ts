// How a refusal looks to the stock client.

import { expect } from "vitest";

interface Answer {
  status: number;
  data: unknown;
  error: { code?: string; message: string } | null;
}

interface StorageAnswer {
  data: unknown;
  error: { message: string } | null;
}

/** The request was refused with this status, SQLSTATE and message. */
export function expectRefused(answer: Answer, status: number, code: string, message: RegExp): void {
  expect(answer.data).toBeNull();
  expect({ status: answer.status, code: answer.error?.code }).toEqual({ status, code });
  expect(answer.error?.message).toMatch(message);
}

/** Row-level security hid the rows: the request succeeded and changed or showed none. */
export function expectNoRows(answer: Answer): void {
  expect(answer.error).toBeNull();
  expect(answer.data).toEqual([]);
}

/** The request worked; shows the error when it did not. */
export function expectAllowed(answer: { error: unknown }): void {
  expect(answer.error).toBeNull();
}

/** Storage refused with this status in its body and this message. */
export function expectStorageRefused(
  answer: StorageAnswer,
  statusCode: string,
  message: string,
): void {
  expect(answer.data).toBeNull();
  const { statusCode: answered, message: text } = answer.error as {
    statusCode?: string;
    message: string;
  };
  expect({ statusCode: answered, message: text }).toEqual({ statusCode, message });
}
