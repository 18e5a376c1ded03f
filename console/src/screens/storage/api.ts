/** Requests of the storage screen: buckets and objects by the public API through the proxy, folders by jobs of the console. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request, send } from "@/api/client";
import { encodePath } from "./object-path";

const service = "/api/proxy/storage";

export interface Bucket {
  id: string;
  name: string;
  public: boolean;
  file_size_limit: number | null;
  allowed_mime_types: string[] | null;
  created_at: string;
  updated_at: string;
}

export interface BucketSettings {
  public: boolean;
  file_size_limit: number | null;
  allowed_mime_types: string[] | null;
}

export function readBuckets(signal?: AbortSignal): Promise<Bucket[]> {
  return request<Bucket[]>(`${service}/bucket?sortColumn=name&sortOrder=asc`, { signal });
}

export const bucketsQuery = queryOptions({
  queryKey: ["storage", "buckets"],
  queryFn: ({ signal }) => readBuckets(signal),
});

export function createBucket(name: string, settings: BucketSettings): Promise<{ name: string }> {
  return request(`${service}/bucket`, { json: { id: name, name, ...settings } });
}

export function updateBucket(id: string, settings: BucketSettings): Promise<void> {
  return request(`${service}/bucket/${encodeURIComponent(id)}`, { method: "PUT", json: settings });
}

export function emptyBucket(id: string): Promise<void> {
  return request(`${service}/bucket/${encodeURIComponent(id)}/empty`, { json: {} });
}

export function deleteBucket(id: string): Promise<void> {
  return request(`${service}/bucket/${encodeURIComponent(id)}`, { method: "DELETE", json: {} });
}

export interface StoredObject {
  id: string | null;
  /** The object's name including its folders. */
  name: string;
  created_at: string | null;
  updated_at: string | null;
  metadata: { size?: number; mimetype?: string; cacheControl?: string; eTag?: string } | null;
}

export interface ObjectPage {
  hasNext: boolean;
  nextCursor?: string | null;
  folders: { name: string; key?: string }[];
  objects: StoredObject[];
}

export type ObjectSort = "name" | "created_at" | "updated_at";

export interface ObjectListing {
  bucket: string;
  /** Folder with its slash, or a beginning of names to search for. */
  prefix: string;
  sort: ObjectSort;
  descending: boolean;
}

/** Objects that one request brings; the service sends at most so many. */
const pageSize = 1000;

/** A folder's objects and folders, page by page in the order of the service, which has a cursor instead of an offset. */
export function objectsQuery({ bucket, prefix, sort, descending }: ObjectListing) {
  return infiniteQueryOptions({
    queryKey: ["storage", "objects", bucket, prefix, sort, descending],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) =>
      request<ObjectPage>(`${service}/object/list-v2/${encodeURIComponent(bucket)}`, {
        json: {
          prefix,
          limit: pageSize,
          with_delimiter: true,
          sortBy: { column: sort, order: descending ? "desc" : "asc" },
          ...(pageParam !== null && { cursor: pageParam }),
        },
        signal,
      }),
    getNextPageParam: (page) => (page.hasNext ? (page.nextCursor ?? null) : null),
  });
}

/** Everything that is shown of a bucket is asked anew after a change in it. */
export const objectsKey = (bucket: string) => ["storage", "objects", bucket];

export interface ObjectInfo {
  id: string;
  name: string;
  size: number;
  content_type: string | null;
  cache_control: string | null;
  etag: string | null;
  created_at: string;
  last_modified: string | null;
  metadata: Record<string, unknown> | null;
}

export const objectInfosKey = (bucket: string) => ["storage", "info", bucket];

export function objectInfoQuery(bucket: string, name: string) {
  return queryOptions({
    queryKey: [...objectInfosKey(bucket), name],
    queryFn: ({ signal }) =>
      request<ObjectInfo>(
        `${service}/object/info/authenticated/${encodeURIComponent(bucket)}/${encodePath(name)}`,
        { signal },
      ),
    retry: false,
  });
}

/** The object's bytes. */
export async function loadObject(bucket: string, name: string, signal: AbortSignal): Promise<Blob> {
  const path = `${service}/object/authenticated/${encodeURIComponent(bucket)}/${encodePath(name)}`;
  return (await send(path, { signal })).blob();
}

export async function objectExists(bucket: string, name: string): Promise<boolean> {
  const page = await request<ObjectPage>(
    `${service}/object/list-v2/${encodeURIComponent(bucket)}`,
    { json: { prefix: name, limit: 1, with_delimiter: false } },
  );
  return page.objects.some((object) => object.name === name);
}

export function moveObject(
  bucket: string,
  from: string,
  to: string,
  destinationBucket: string,
): Promise<void> {
  return request(`${service}/object/move`, {
    json: { bucketId: bucket, sourceKey: from, destinationKey: to, destinationBucket },
  });
}

export function copyObject(
  bucket: string,
  from: string,
  to: string,
  destinationBucket: string,
): Promise<void> {
  return request(`${service}/object/copy`, {
    json: { bucketId: bucket, sourceKey: from, destinationKey: to, destinationBucket },
  });
}

/** Deletes up to a thousand objects in one request; more are deleted by a job. */
export function deleteObjects(bucket: string, names: readonly string[]): Promise<unknown> {
  return request(`${service}/object/${encodeURIComponent(bucket)}`, {
    method: "DELETE",
    json: { prefixes: names },
  });
}

/** Returns the path of a signed URL. Everyone with that URL can read the object until it expires. */
export async function signObject(bucket: string, name: string, expiresIn: number): Promise<string> {
  const { signedURL } = await request<{ signedURL: string }>(
    `${service}/object/sign/${encodeURIComponent(bucket)}/${encodePath(name)}`,
    { json: { expiresIn } },
  );
  return encodeURI(signedURL);
}

/** Names in one request of a deletion; the service takes at most a thousand. */
export const deletedAtOnce = 1000;

/** Counts the files in folders and their subfolders. `table` is the oid of storage.objects, which every level may read. */
export async function countBelow(
  table: string,
  bucket: string,
  folders: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const counts = await Promise.all(
    folders.map((folder) =>
      request<{ count: number }>("/api/rows/count", {
        json: {
          table,
          filters: [
            { column: "bucket_id", operator: "eq", value: bucket },
            {
              column: "name",
              operator: "like",
              value: `${folder.replace(/[\\%_]/g, "\\$&")}%`,
            },
          ],
          exact: true,
        },
        signal,
      }),
    ),
  );
  return counts.reduce((sum, { count }) => sum + count, 0);
}
