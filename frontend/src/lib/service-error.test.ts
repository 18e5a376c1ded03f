import { afterEach, describe, expect, it, vi } from "vitest";
import { messageOf, ServiceError } from "./service-error";

const fallback = "Failed to save.";

afterEach(() => vi.restoreAllMocks());

describe("what a person is told about an error", () => {
  it.each([
    // PostgreSQL and PostgREST
    ['new row violates row-level security policy for table "brands"', "42501", 403],
    ["permission denied for table brands", "42501", 401],
    ['invalid input syntax for type uuid: "nope"', "22P02", 400],
    ["timestamp out of range", "22008", 400],
    ['duplicate key value violates unique constraint "brands_pkey"', "23505", 409],
    ['insert or update on table "items" violates foreign key constraint "x"', "23503", 409],
    ['new row for relation "items" violates check constraint "y"', "23514", 400],
    ['null value in column "name" of relation "items" violates not-null constraint', "23502", 400],
    ["canceling statement due to statement timeout", "57014", 500],
    ["JSON object requested, multiple (or no) rows returned", "PGRST116", 406],
    ["JWT expired", "PGRST303", 401],
    ["Could not find the function public.x in the schema cache", "PGRST202", 404],
    ['could not load library "/usr/lib/x.so"', "58P01", 500],
    // Auth
    ["No suitable key or wrong key type", "bad_jwt", 403],
    ["{}", "", 500],
    ["", "", 0],
  ])("is nothing of %j", (message, code, status) => {
    const told = messageOf(new ServiceError(message, code, status), fallback);

    expect(told).toMatch(/^[A-Z][^"{}]*[.]$/);
    expect(told).not.toMatch(
      /row-level|permission denied|syntax|constraint|relation|JWT|JSON|library/,
    );
  });

  it.each([
    new TypeError("Failed to fetch"),
    new ServiceError("AbortError: Failed to fetch", "", 0),
    new DOMException("signal is aborted without reason", "AbortError"),
  ])("says that the server could not be reached: %s", (error) => {
    expect(messageOf(error, fallback)).toBe("The server could not be reached. Please try again.");

    vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
    expect(messageOf(error, fallback)).toMatch(/^You are offline\./);
  });

  it.each([
    ["Upload your three training photos first.", "23514", 400],
    ["The last administrator cannot be demoted.", "23514", 400],
    ["Only an administrator may review an outfit.", "42501", 403],
    ["Email address is already registered.", "email_exists", 422],
  ])("is the sentence of the service where it is one: %s", (message, code, status) => {
    expect(messageOf(new ServiceError(message, code, status), fallback)).toBe(message);
  });
});
