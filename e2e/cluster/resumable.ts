// Resumable uploads through two nodes at once, as by a client whose connection was cut: it asks another node how far the upload has come, and
// sends the rest there while the first node still works on it.

/** The nodes, without the proxy, which leads all requests of a client to the same one. */
const nodes = ["http://node-1:54321", "http://node-2:54321", "http://node-3:54321"];
/** A machine may be frozen meanwhile. In milliseconds. */
const answerMs = 20_000;

export interface Upload {
  key: string;
  token: string;
  /** Name of the object in the bucket `files`. */
  path: string;
  bytes: Buffer;
  /** Whether it may replace an object. */
  replaces: boolean;
}

/** What a resumable upload has come to. */
export interface Uploaded {
  /** Whether a node has acknowledged all of it. */
  isAcknowledged: boolean;
  /** Answers that no fault explains. */
  unexpected: string[];
}

/** Uploads a file in two pieces. The second one goes to two nodes at once. */
export async function uploadByTwoNodes(upload: Upload): Promise<Uploaded> {
  const start = Math.floor(Math.random() * nodes.length);
  const [first = "", second = ""] = [start, start + 1].map((index) => nodes[index % nodes.length]);
  const { bytes } = upload;
  const unexpected: string[] = [];
  const ask = async (node: string, method: string, target: string, body?: [number, Buffer]) => {
    const headers = headersOf(upload, method, body?.[0]);
    const signal = AbortSignal.timeout(answerMs);
    const url = new URL(target, node);
    const answer = await fetch(url, {
      method,
      headers,
      signal,
      body: body === undefined ? null : new Uint8Array(body[1]),
    }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    if (answer !== undefined && answer.status >= 500 && answer.status !== 503) {
      unexpected.push(`${method} of a resumable upload: ${answer.status}`);
    }
    return answer;
  };

  const created = await ask(first, "POST", "/storage/v1/upload/resumable");
  const location = created?.status === 201 ? created.headers.get("location") : null;
  if (location === null) {
    return { isAcknowledged: false, unexpected };
  }
  const target = new URL(location, first).pathname;
  const half = Math.floor(bytes.length / 2);
  await ask(first, "PATCH", target, [0, bytes.subarray(0, half)]);
  const rest: [number, Buffer] = [half, bytes.subarray(half)];
  const answers = await Promise.all([
    ask(first, "PATCH", target, rest),
    ask(second, "HEAD", target).then(() => undefined),
    ask(second, "PATCH", target, rest),
  ]);
  const isAcknowledged = answers.some(
    (answer) => answer?.status === 204 && answer.headers.get("upload-offset") === `${bytes.length}`,
  );
  return { isAcknowledged, unexpected };
}

function headersOf(upload: Upload, method: string, offset?: number): Record<string, string> {
  const common = {
    apikey: upload.key,
    authorization: `Bearer ${upload.token}`,
    "tus-resumable": "1.0.0",
  };
  if (offset !== undefined) {
    const type = "application/offset+octet-stream";
    return { ...common, "upload-offset": `${offset}`, "content-type": type };
  }
  if (method !== "POST") {
    return common;
  }
  const metadata = { bucketName: "files", objectName: upload.path, contentType: "text/plain" };
  const encoded = Object.entries(metadata).map(
    ([name, value]) => `${name} ${Buffer.from(value).toString("base64")}`,
  );
  return {
    ...common,
    "upload-length": `${upload.bytes.length}`,
    "upload-metadata": encoded.join(","),
    "x-upsert": `${upload.replaces}`,
  };
}
