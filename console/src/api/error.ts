/** Body of every answer with a status of 400 or above. */
export interface ErrorBody {
  code: string;
  message: string;
  details?: string | null;
  hint?: string | null;
  /** 1-based position in the sent SQL, in characters. */
  position?: number | null;
  request_id?: string;
}

/** Codes of failures that the browser itself finds, beside those of the server. */
export type LocalCode = "unreachable" | "malformed";

/** A request that failed: refused by the server, or without any answer. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status, or 0 when no answer came. */
  readonly status: number;
  readonly code: string;
  readonly details: string | undefined;
  readonly hint: string | undefined;
  readonly position: number | undefined;
  readonly requestId: string | undefined;
  /** The whole body, for answers that carry more, such as the conflicts of a 409. */
  readonly body: unknown;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.details = body.details ?? undefined;
    this.hint = body.hint ?? undefined;
    this.position = body.position ?? undefined;
    this.requestId = body.request_id;
    this.body = body;
  }
}

/** Whether no answer came, so that it is unknown if the request was carried out. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 0;
}

/** Whether a failed request may have been carried out: no answer came, or one that is not the console's own, such as a proxy's 502. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  const { status, code } = error;
  const isOfProxy = status >= 500 && code === String(status);
  return status === 0 || isOfProxy || code === "outcome_unknown" || code === "malformed";
}

/** Whether what was asked for is not there, or not any more. Storage says so in the body of a 400, as its original does. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { statusCode } = (error.body ?? {}) as { statusCode?: unknown };
  return error.status === 404 || statusCode === "404";
}

/** Whether the server or its database is away for the moment. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ApiError && [0, 429, 502, 503, 504].includes(error.status);
}

/**
 * Converts a response with a status of 400 or above to an error; the services behind the proxy have error bodies of
 * different shapes.
 */
export async function readError(response: Response): Promise<ApiError> {
  const fallback: ErrorBody = {
    code: String(response.status),
    message: `The server answered with status ${response.status}.`,
  };
  const requestId = response.headers.get("x-request-id");
  if (requestId !== null) fallback.request_id = requestId;
  const text = await response.text().catch(() => "");
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) return new ApiError(response.status, fallback);
    const fields = body as Record<string, unknown>;
    const pick = (...names: string[]) =>
      names.map((name) => fields[name]).find((value) => typeof value === "string") as
        | string
        | undefined;
    return new ApiError(response.status, {
      ...fallback,
      ...fields,
      code: pick("code", "error_code", "error") ?? fallback.code,
      message: pick("message", "msg", "error_description", "error") ?? fallback.message,
    });
  } catch {
    if (text !== "" && text.length < 500) fallback.message = text;
    return new ApiError(response.status, fallback);
  }
}
