/** A service's refusal, with the code by which callers tell one refusal from another. */
export class ServiceError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(message: string, code: string, status: number, cause?: unknown) {
    super(message, { cause });
    this.name = "ServiceError";
    this.code = code;
    this.status = status;
  }
}

interface RestAnswer<T> {
  data: T;
  error: { message: string; code: string } | null;
  status: number;
}

/** The data of a REST answer, or its error thrown: queries and mutations speak in exceptions. */
export function rowsOf<T>(answer: RestAnswer<T>): NonNullable<T> {
  if (answer.error !== null) {
    throw new ServiceError(answer.error.message, answer.error.code, answer.status, answer.error);
  }
  if (answer.data === null || answer.data === undefined) {
    throw new ServiceError("The service answered without data.", "", answer.status);
  }
  return answer.data;
}

/** For answers whose data may be absent, such as `maybeSingle()` and writes without representation. */
export function resultOf<T>(answer: RestAnswer<T>): T {
  if (answer.error !== null) {
    throw new ServiceError(answer.error.message, answer.error.code, answer.status, answer.error);
  }
  return answer.data;
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

/** PostgreSQL's name for a row that exists already. */
export const uniqueViolation = "23505";
/** PostgreSQL's name for "not allowed", row-level security included. */
export const insufficientPrivilege = "42501";

/** The network failed: there was no answer at all. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ServiceError ? error.status === 0 : error instanceof TypeError;
}

/** Network failures and overloaded or restarting servers: worth another attempt. */
export function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ServiceError && error.status >= 500);
}

export function messageOf(error: unknown, fallback: string): string {
  return error instanceof Error && error.message !== "" ? error.message : fallback;
}
