/** An error response of a service. Callers distinguish errors by `code`, never by the message. */
export class ServiceError extends Error {
  readonly code: string;
  /** HTTP status; 0 when there was no response. */
  readonly status: number;

  constructor(message: string, code: string, status: number, cause?: unknown) {
    super(message, { cause });
    this.name = "ServiceError";
    this.code = code;
    this.status = status;
  }
}

export interface RestResponse<T> {
  data: T;
  error: { message: string; code: string } | null;
  status: number;
}

/** The data of a REST response. Throws its error as {@link ServiceError}, as TanStack Query expects. */
export function rowsOf<T>(response: RestResponse<T>): NonNullable<T> {
  if (response.error !== null) {
    throw new ServiceError(
      response.error.message,
      response.error.code,
      response.status,
      response.error,
    );
  }
  if (response.data === null || response.data === undefined) {
    throw new ServiceError("The service responded without data.", "", response.status);
  }
  return response.data;
}

/** Like {@link rowsOf}, for responses whose data may be null: `maybeSingle()` and writes without representation. */
export function resultOf<T>(response: RestResponse<T>): T {
  if (response.error !== null) {
    throw new ServiceError(
      response.error.message,
      response.error.code,
      response.status,
      response.error,
    );
  }
  return response.data;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return (
    typeof error === "object" &&
    error !== null &&
    "code" in error &&
    typeof error.code === "string" &&
    codes.includes(error.code)
  );
}

/** PostgreSQL's SQLSTATE for a violated unique constraint. */
export const uniqueViolation = "23505";
/** PostgreSQL's SQLSTATE for missing privileges and refused row-level security. */
export const insufficientPrivilege = "42501";

/** The network failed: there was no response at all. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ServiceError ? error.status === 0 : error instanceof TypeError;
}

/** Network failures and overloaded or restarting servers: a retry may succeed. */
export function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ServiceError && error.status >= 500);
}

/** Sentences for codes whose own message is PostgreSQL's or PostgREST's, in words of tables, columns and types. */
const sentences: Readonly<Record<string, string>> = {
  "22001": "Something that you typed is too long.",
  "22003": "A number is too large.",
  "22007": "A date cannot be read.",
  "22008": "A date cannot be read.",
  "22P02": "The address or a value is not valid.",
  "23502": "Something that is needed is missing.",
  "23503": "Something that this refers to is no longer there.",
  "23505": "It is there already.",
  "23514": "Something that you typed does not fit.",
  "40001": "Somebody else changed it at the same moment. Please try again.",
  "40P01": "Somebody else changed it at the same moment. Please try again.",
  "42501": "You don't have permission to do this.",
  "57014": "The server took too long. Please try again.",
  PGRST116: "It is no longer there.",
  PGRST301: "Your session has ended. Sign in again.",
  PGRST303: "Your session has ended. Sign in again.",
  bad_jwt: "Your session has ended. Sign in again.",
  session_not_found: "Your session has ended. Sign in again.",
};

/** What a message says that was made for programmers. Refusals that the site's own SQL words are sentences without any of these. */
const technical =
  /row-level security|permission denied for|violates |invalid input syntax|out of range|duplicate key|null value in column|relation "|column "|function |PGRST|JSON|JWT|key type|schema cache|statement timeout|fetch|abort|^\W*$/i;

/** Whether a request was broken off: by a timeout of the client, or because the network went away within it. */
function isAborted(error: unknown): boolean {
  return (
    typeof error === "object" && error !== null && "name" in error && error.name === "AbortError"
  );
}

/**
 * What is said about an error to a person: the service's own sentence where it is one, and never SQL, names of policies or of
 * classes. `fallback` says what failed.
 */
export function messageOf(error: unknown, fallback: string): string {
  const { message, code, status } = partsOf(error);
  const isSentence = message !== "" && !technical.test(message);
  if (isUnreachable(error) || isAborted(error)) {
    // What the site's own code says about it, such as that an upload was interrupted.
    if (isSentence && error instanceof ServiceError) return message;
    return navigator.onLine
      ? "The server could not be reached. Please try again."
      : "You are offline. Nothing was changed; please try again when the network is back.";
  }
  if (isSentence && status < 500) return message;
  return sentences[code] ?? fallback;
}

function partsOf(error: unknown): { message: string; code: string; status: number } {
  if (typeof error !== "object" || error === null) return { message: "", code: "", status: 0 };
  return {
    message: "message" in error && typeof error.message === "string" ? error.message : "",
    code: "code" in error && typeof error.code === "string" ? error.code : "",
    status: "status" in error && typeof error.status === "number" ? error.status : 0,
  };
}
