// Row-level security of the buckets: users may write into folders with their own id, administrators everywhere.

import { beforeAll, describe, expect, test } from "vitest";
import { type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectAllowed, expectStorageRefused } from "../support/expectations.ts";
import { picture, png, storedFiles } from "../support/files.ts";

const refusal = ["403", "new row violates row-level security policy"] as const;

let attacker: Person;
let victim: Person;
let admin: Person;

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  admin = await signUpAdmin();
});

describe.each(["images", "brand-logos", "category-icons", "combine-images"])(
  "the catalogue's bucket %s",
  (bucket) => {
    test("refuses files of users and visitors", async () => {
      const path = `${attacker.id}/upload.png`;

      const byUser = await attacker.client.storage.from(bucket).upload(path, picture(), png);
      const byVisitor = await visitor().storage.from(bucket).upload(path, picture(), png);

      expectStorageRefused(byUser, ...refusal);
      expectStorageRefused(byVisitor, ...refusal);
      expect(await storedFiles(bucket, attacker.id)).toEqual([]);
    });

    test("is writable by administrators and readable by everybody", async () => {
      const path = `${admin.id}/made.png`;
      const storage = admin.client.storage.from(bucket);

      expectAllowed(await storage.upload(path, picture(), png));
      const seen = await fetch(storage.getPublicUrl(path).data.publicUrl);
      const byUser = await attacker.client.storage.from(bucket).remove([path]);
      const removed = await storage.remove([path]);

      expect([seen.status, seen.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(byUser.data).toEqual([]);
      expect(removed.data).toHaveLength(1);
    });
  },
);

describe.each(["avatars", "user-outfit-images", "profile-avatars"])(
  "the users' bucket %s",
  (bucket) => {
    test("accepts files in the caller's own folder", async () => {
      const storage = attacker.client.storage.from(bucket);
      const path = `${attacker.id}/own.png`;

      expectAllowed(await storage.upload(path, picture(), png));
      expectAllowed(await storage.upload(path, picture(), { ...png, upsert: true }));
      const removed = await storage.remove([path]);

      expect(removed.data).toHaveLength(1);
      expect(await storedFiles(bucket, attacker.id)).toEqual([]);
    });

    test("refuses files in another user's folder, at the top level, and without an account", async () => {
      const storage = attacker.client.storage.from(bucket);

      const intoTheirs = await storage.upload(`${victim.id}/planted.png`, picture(), png);
      const atTheTop = await storage.upload(`planted-${attacker.id}.png`, picture(), png);
      const byVisitor = await visitor()
        .storage.from(bucket)
        .upload(`${victim.id}/planted.png`, picture(), png);

      for (const response of [intoTheirs, atTheTop, byVisitor]) {
        expectStorageRefused(response, ...refusal);
      }
      expect(await storedFiles(bucket, victim.id)).toEqual([]);
    });

    test("refuses to replace, move or delete another user's files", async () => {
      const path = `${victim.id}/theirs.png`;
      expectAllowed(await victim.client.storage.from(bucket).upload(path, picture(), png));
      const storage = attacker.client.storage.from(bucket);

      const replaced = await storage.upload(path, picture(), { ...png, upsert: true });
      const moved = await storage.move(path, `${attacker.id}/stolen.png`);
      const removed = await storage.remove([path]);

      expectStorageRefused(replaced, ...refusal);
      expectStorageRefused(moved, "404", "Object not found");
      expect(removed.data).toEqual([]);
      expect(await storedFiles(bucket, victim.id)).toEqual(["theirs.png"]);
    });

    test("refuses to move files into another user's folder or another bucket", async () => {
      const path = `${attacker.id}/mine.png`;
      const storage = attacker.client.storage.from(bucket);
      expectAllowed(await storage.upload(path, picture(), { ...png, upsert: true }));

      const intoTheirs = await storage.move(path, `${victim.id}/planted.png`);
      const intoCatalogue = await storage.move(path, "items/planted.png", {
        destinationBucket: "images",
      });

      expectStorageRefused(intoTheirs, ...refusal);
      expectStorageRefused(intoCatalogue, ...refusal);
      expect(await storedFiles("images", "items")).not.toContain("planted.png");
    });
  },
);

describe("the limits of a bucket", () => {
  test("refuse files that can carry scripts", async () => {
    const response = await attacker.client.storage
      .from("avatars")
      .upload(`${attacker.id}/picture.svg`, "<svg xmlns='http://www.w3.org/2000/svg'/>", {
        contentType: "image/svg+xml",
      });

    expectStorageRefused(response, "415", "mime type image/svg+xml is not supported");
  });

  test("refuse files above the bucket's size", async () => {
    const response = await admin.client.storage
      .from("category-icons")
      .upload(`${admin.id}/large.png`, Buffer.alloc(2 * 1024 * 1024 + 1), png);

    expectStorageRefused(response, "413", "The object exceeded the maximum allowed size");
  });
});

describe("the buckets themselves", () => {
  test("cannot be created, made public or emptied by users", async () => {
    const { storage } = attacker.client;

    const made = await storage.createBucket(`mine-${attacker.id}`, { public: true });
    const opened = await storage.updateBucket("profile-avatars", { public: true });
    const emptied = await storage.emptyBucket("avatars");
    const deleted = await storage.deleteBucket("avatars");

    for (const response of [made, opened, emptied, deleted]) {
      expect(response.data).toBeNull();
      expect(response.error).not.toBeNull();
    }
  });
});
