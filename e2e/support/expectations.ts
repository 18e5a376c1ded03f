// Assertions on responses of the stock client: allowed, refused, or without rows.

import { expect } from "vitest";

interface ClientResponse {
  status: number;
  data: unknown;
  error: { code?: string; message: string } | null;
}

interface StorageResponse {
  data: unknown;
  error: { message: string } | null;
}

/** Expects a refusal with this status, SQLSTATE and message. */
export function expectRefused(
  response: ClientResponse,
  status: number,
  code: string,
  message: RegExp,
): void {
  expect(response.data).toBeNull();
  expect({ status: response.status, code: response.error?.code }).toEqual({ status, code });
  expect(response.error?.message).toMatch(message);
}

/** Expects success without any row: row-level security hid the rows from the request. */
export function expectNoRows(response: ClientResponse): void {
  expect(response.error).toBeNull();
  expect(response.data).toEqual([]);
}

/** Expects success; a failure shows the error. */
export function expectAllowed(response: { error: unknown }): void {
  expect(response.error).toBeNull();
}

/** Expects a refusal by storage with this status in the body and this message. */
export function expectStorageRefused(
  response: StorageResponse,
  statusCode: string,
  message: string,
): void {
  expect(response.data).toBeNull();
  const { statusCode: actual, message: text } = response.error as {
    statusCode?: string;
    message: string;
  };
  expect({ statusCode: actual, message: text }).toEqual({ statusCode, message });
}
