// The S3 protocol with the AWS SDK: with the project's key pair, and with a user's session token.

import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { localKey, localS3Keys, owner, signUp } from "../support/clients.ts";

const bucket = `s3-${randomUUID()}`;

function client(accessKeyId: string, secretAccessKey: string, sessionToken?: string): S3Client {
  return new S3Client({
    endpoint: `${apiUrl()}/storage/v1/s3`,
    region: "local",
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) },
  });
}

const service = () => client(localS3Keys.accessKeyId, localS3Keys.secretAccessKey);

beforeAll(async () => {
  await service().send(new CreateBucketCommand({ Bucket: bucket }));
});

afterAll(async () => {
  await owner().storage.emptyBucket(bucket);
  await service().send(new DeleteBucketCommand({ Bucket: bucket }));
});

test("store_095 objects are put, copied, read, listed and deleted", async () => {
  const s3 = service();
  const put = await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: "folder/a b+c.txt",
      Body: "hello",
      ContentType: "text/css",
      Metadata: { colour: "blue" },
    }),
  );
  await s3.send(
    new CopyObjectCommand({
      Bucket: bucket,
      Key: "copy",
      CopySource: `${bucket}/folder/a%20b%2Bc.txt`,
    }),
  );

  const got = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: "copy" }));
  const listed = await s3.send(new ListObjectsV2Command({ Bucket: bucket, Delimiter: "/" }));
  const buckets = await s3.send(new ListBucketsCommand({}));

  expect(put.ETag).toBe('"5d41402abc4b2a76b9719d911017c592"');
  expect(await got.Body?.transformToString()).toBe("hello");
  expect([got.ContentType, got.Metadata]).toEqual(["text/css", { colour: "blue" }]);
  expect(listed.CommonPrefixes).toEqual([{ Prefix: "folder/" }]);
  expect(listed.Contents?.map(({ Key, Size }) => [Key, Size])).toEqual([["copy", 5]]);
  expect(buckets.Buckets?.map(({ Name }) => Name)).toContain(bucket);

  const deleted = await s3.send(
    new DeleteObjectsCommand({
      Bucket: bucket,
      Delete: { Objects: [{ Key: "copy" }, { Key: "folder/a b+c.txt" }] },
    }),
  );
  expect(deleted.Deleted?.length).toBe(2);
  await expect(
    s3.send(new HeadObjectCommand({ Bucket: bucket, Key: "copy" })),
  ).rejects.toMatchObject({ name: "NotFound" });
});

test("store_095 store_097 a stream is uploaded in parts and read by a presigned URL", async () => {
  const s3 = service();
  const block = Buffer.alloc(1 << 20, "0123456789abcdef");
  const upload = new Upload({
    client: s3,
    params: { Bucket: bucket, Key: "large", Body: Readable.from(Array(7).fill(block)) },
    partSize: 5 << 20,
  });
  const done = await upload.done();
  const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket: bucket, Key: "large" }), {
    expiresIn: 60,
  });

  const range = await fetch(url, { headers: { Range: "bytes=5242878-5242881" } });
  const whole = await fetch(url);

  expect(done.ETag).toMatch(/-2"$/);
  expect([range.status, await range.text()]).toEqual([206, "ef01"]);
  expect(Buffer.from(await whole.arrayBuffer()).equals(Buffer.concat(Array(7).fill(block)))).toBe(
    true,
  );
  const form = await getSignedUrl(s3, new PutObjectCommand({ Bucket: bucket, Key: "put" }));
  expect((await fetch(form, { method: "PUT", body: "by URL" })).status).toBe(200);
});

test("store_096 with a session token the policies of the user apply", async () => {
  const [ana, bob] = await Promise.all([signUp(), signUp()]);
  const session = await ana.client.auth.getSession();
  const s3 = client("stub", localKey("anon"), session.data.session?.access_token);
  const avatar = (id: string) =>
    new PutObjectCommand({
      Bucket: "avatars",
      Key: `${id}/s3.webp`,
      Body: "x",
      ContentType: "image/webp",
    });

  await s3.send(avatar(ana.id));
  await expect(s3.send(avatar(bob.id))).rejects.toMatchObject({
    name: "AccessDenied",
    $metadata: { httpStatusCode: 403 },
  });
  const { data } = await ana.client.storage.from("avatars").list(ana.id);

  expect(data?.map(({ name }) => name)).toContain("s3.webp");
  const forged = client("stub", "wrong", session.data.session?.access_token);
  await expect(forged.send(new ListBucketsCommand({}))).rejects.toMatchObject({
    name: "SignatureDoesNotMatch",
  });
});
