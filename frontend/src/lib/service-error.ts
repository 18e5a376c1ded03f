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

interface RestResponse<T> {
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

export function messageOf(error: unknown, fallback: string): string {
  return error instanceof Error && error.message !== "" ? error.message : fallback;
}
