import { ServiceError } from "@/lib/service-error";

/** A refusal that is about one field of a form, which shows it there. */
export class FieldError extends ServiceError {
  /** Column of the database, and name of the field. */
  readonly field: string;

  constructor(field: string, message: string, cause: ServiceError) {
    super(message, cause.code, cause.status, cause);
    this.field = field;
  }
}
