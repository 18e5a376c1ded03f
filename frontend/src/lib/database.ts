// The types of the site's database: database.types.ts is the output of `selvedge gen types`, and this file adds what it
// leaves out.

import type { Database as Generated, Json } from "./database.types";

export type Gender = "men" | "women" | "unisex";
/** An unlisted outfit was approved, and is shown to those who have its link. */
export type CombineStatus = "pending" | "approved" | "rejected" | "unlisted";
export type Role = "user" | "admin";
export type GeneratedPictureStatus = "queued" | "running" | "succeeded" | "failed" | "cancelled";
export type NotificationKind =
  | "liked"
  | "approved"
  | "rejected"
  | "picture_ready"
  | "picture_failed"
  | "followed";

/** Columns whose values a check constraint restricts. PostgreSQL's catalog, and therefore the generator, has only `text`. */
interface Narrowed {
  combine_reviews: { decision: Exclude<CombineStatus, "pending" | "unlisted">; gender: Gender };
  combines: { gender: Gender; status: CombineStatus };
  generated_pictures: { status: GeneratedPictureStatus };
  items: { gender: Gender };
  notifications: { kind: NotificationKind };
  profiles: { role: Role };
}

/** Functions of a row that PostgREST shows as columns. The generator lists only those whose argument has no name. */
interface Computed {
  items: { product_number: string | null };
}

type GeneratedTables = Generated["public"]["Tables"];
type GeneratedFunctions = Generated["public"]["Functions"];

type NarrowColumns<Columns, Change> = {
  [Name in keyof Columns]: Name extends keyof Change ? Change[Name] : Columns[Name];
};

/** A table with narrowed columns in Row, Insert and Update. */
type NarrowTable<Table, Change> = {
  [Part in keyof Table]: Part extends "Row" | "Insert" | "Update"
    ? NarrowColumns<Table[Part], Change>
    : Table[Part];
};

/** A table with its computed columns in Row. supabase-js leaves the names in ComputedFields out of `*`, as PostgREST does. */
type AddComputed<Table extends { Row: unknown }, Fields> = Omit<Table, "Row"> & {
  Row: Table["Row"] & Fields;
  ComputedFields: keyof Fields;
};

type NarrowedTables = {
  [Name in keyof GeneratedTables]: Name extends keyof Narrowed
    ? NarrowTable<GeneratedTables[Name], Narrowed[Name]>
    : GeneratedTables[Name];
};

type Tables = {
  [Name in keyof NarrowedTables]: Name extends keyof Computed
    ? AddComputed<NarrowedTables[Name], Computed[Name]>
    : NarrowedTables[Name];
};

/** Functions that return rows of a narrowed table. */
type Functions = {
  [Name in keyof GeneratedFunctions]: GeneratedFunctions[Name] extends {
    SetofOptions: { to: infer Table extends keyof Tables };
    Returns: infer Returns;
  }
    ? Omit<GeneratedFunctions[Name], "Returns"> & {
        Returns: Returns extends unknown[] ? Tables[Table]["Row"][] : Tables[Table]["Row"];
      }
    : GeneratedFunctions[Name];
};

/** The site's database as supabase-js sees it: generated, with the check constraints that the generator leaves out. */
export type Database = {
  public: Omit<Generated["public"], "Tables" | "Functions"> & {
    Tables: Tables;
    Functions: Functions;
  };
};

export type { Json };
