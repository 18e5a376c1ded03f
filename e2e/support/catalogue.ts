// Rows for the tests of row-level security, inserted with the service key. Every call inserts new rows, so tests do not
// depend on each other and may run against a database that is in use.

import { randomUUID } from "node:crypto";
import type { PostgrestSingleResponse } from "@supabase/supabase-js";
import { owner, type Person } from "./clients.ts";
import { picture, png } from "./files.ts";

export interface Item {
  id: string;
  brand_id: string;
  slug: string;
}

export interface Outfit {
  id: string;
  user_id: string | null;
  name: string;
  status: string;
  created_by_admin: boolean;
  approved_by: string | null;
  approved_at: string | null;
  created_at: string;
  updated_at: string;
  rejection_reason: string | null;
  item_ids: string[];
}

/** A name that no other test uses. */
export function uniqueName(noun: string): string {
  return `${noun} ${randomUUID().slice(0, 8)}`;
}

/** The data of a response; throws its error. For steps that prepare a test. */
export function expectData<T>(response: PostgrestSingleResponse<T>): T {
  if (response.error) {
    throw new Error(`${response.status} ${response.error.code} ${response.error.message}`);
  }
  return response.data;
}

export async function makeItem(): Promise<Item> {
  const brand = expectData(
    await owner()
      .from("brands")
      .insert({ name: uniqueName("Brand") })
      .select("id")
      .single(),
  );
  return expectData(
    await owner()
      .from("items")
      .insert({ name: uniqueName("Item"), brand_id: brand.id, price: 49.5 })
      .select("id, brand_id, slug")
      .single<Item>(),
  );
}

/** Inserts an outfit of this person with this status, without going through review. */
export async function makeOutfit(creator: Person, status: string): Promise<Outfit> {
  const item = await makeItem();
  return expectData(
    await owner()
      .from("combines")
      .insert({ user_id: creator.id, name: uniqueName("Outfit"), item_ids: [item.id], status })
      .select()
      .single<Outfit>(),
  );
}

/** Uploads the three training photos of this person, which a submission needs. */
export async function uploadTrainingPhotos(person: Person): Promise<void> {
  for (const slot of [1, 2, 3]) {
    const name = `training-images/${person.id}/photo-${slot}.png`;
    const { error } = await person.client.storage
      .from("profile-avatars")
      .upload(name, picture(), png);
    if (error) {
      throw error;
    }
    expectData(
      await person.client
        .from("user_training_images")
        .insert({ user_id: person.id, image_url: name, image_order: slot })
        .select()
        .single(),
    );
  }
}

/** The rows that the table really holds, read with the service key, to which no policy applies. */
export async function fetchRows<T>(table: string, column: string, value: string): Promise<T[]> {
  return expectData(await owner().from(table).select().eq(column, value)) as T[];
}

/** The outfit as the database has it. */
export async function readOutfit(id: string): Promise<Outfit> {
  const [row] = await fetchRows<Outfit>("combines", "id", id);
  if (!row) {
    throw new Error("the outfit is gone");
  }
  return row;
}
