import { expect, test } from "vitest";
import { proxiedLocation, readMessage } from "./tus-client";

test("CONSOLE-120 an unfinished upload is resumed through the proxy, whatever address the service names", () => {
  const proxied = "/api/proxy/storage/upload/resumable/YWJj";

  expect(proxiedLocation("http://127.0.0.1:54321/storage/v1/upload/resumable/YWJj")).toBe(proxied);
  expect(proxiedLocation("/storage/v1/upload/resumable/YWJj?x=1")).toBe(proxied);
  expect(proxiedLocation(proxied)).toBe(proxied);
});

test("CONSOLE-030 refusals are told in the service's words", () => {
  expect(readMessage('{"message":"Bucket not found"}')).toBe("Bucket not found");
  expect(readMessage("Maximum size exceeded")).toBe("Maximum size exceeded");
  expect(readMessage("")).toBeUndefined();
});
