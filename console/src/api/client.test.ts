import { afterEach, describe, expect, it, vi } from "vitest";
import { readCatalog } from "./catalog-model";
import { readLines, request, withQuery } from "./client";
import { ApiError } from "./error";
import { keepSecret, onSignedOut } from "./secret";

function answer(body: BodyInit | null, init?: ResponseInit) {
  const fetched = vi.fn<typeof fetch>(async () => new Response(body, init));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

afterEach(() => vi.unstubAllGlobals());

describe("request", () => {
  it("console_011_every_request_carries_the_header_that_other_sites_cannot_send", async () => {
    const fetched = answer("{}");
    keepSecret("s3cret");

    await request("/api/session");

    expect(fetched.mock.calls[0]?.[1]?.headers).toMatchObject({ "x-selvedge-console": "s3cret" });
  });

  it("console_030_an_error_has_the_code_text_hint_and_request_id_of_the_server", async () => {
    answer('{"code":"23505","message":"duplicate","hint":"h","position":3,"request_id":"r-1"}', {
      status: 409,
    });

    const failure = await request("/api/x").catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({
      status: 409,
      code: "23505",
      message: "duplicate",
      hint: "h",
      position: 3,
      requestId: "r-1",
    });
  });

  it("console_030_an_error_page_without_json_is_an_error_too", async () => {
    answer("<h1>Bad gateway</h1>", { status: 502 });

    await expect(request("/api/x")).rejects.toMatchObject({ status: 502, code: "502" });
  });

  it("console_031_a_missing_answer_is_told_apart_from_a_refusal", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("Failed to fetch");
    });

    await expect(request("/api/x")).rejects.toMatchObject({ status: 0, code: "unreachable" });
  });

  it("console_013_a_401_forgets_the_secret_and_announces_it", async () => {
    answer('{"code":"unauthenticated","message":"m"}', { status: 401 });
    keepSecret("s3cret");
    const listener = vi.fn();
    const stop = onSignedOut(listener);

    await request("/api/x").catch(() => undefined);
    stop();

    expect(listener).toHaveBeenCalledOnce();
    expect(localStorage.getItem("console:secret")).toBeNull();
  });

  it("withQuery_leaves_out_what_is_not_set", () => {
    expect(withQuery("/api/logs", { a: "x y", b: undefined, c: 0, d: "" })).toBe(
      "/api/logs?a=x+y&c=0",
    );
  });
});

describe("readLines", () => {
  it("reads_one_value_per_line_wherever_the_chunks_are_cut", async () => {
    const bytes = new TextEncoder().encode('{"a":"ä"}\n{"a":2}\n\n{"a":3}');
    const cut = 8;
    answer(
      new ReadableStream({
        start(controller) {
          controller.enqueue(bytes.slice(0, cut));
          controller.enqueue(bytes.slice(cut));
          controller.close();
        },
      }),
    );

    const lines = [];
    for await (const line of readLines("/api/x")) lines.push(line);

    expect(lines).toEqual([{ a: "ä" }, { a: 2 }, { a: 3 }]);
  });
});

it("console_032_the_columnar_catalog_becomes_tables_with_their_columns", () => {
  const catalog = readCatalog({
    version: "1",
    schemas: [{ name: "public", exposed: true }],
    tables: {
      oid: ["1", "2"],
      schema: ["public", "public"],
      name: ["a", "b"],
      kind: ["r", "v"],
      rls: [true, false],
      rights: ["iud", ""],
      rows: [3, -1],
      bytes: [8192, 0],
      comment: [null, "view"],
      key: [["id"], []],
    },
    columns: {
      table: [0, 0, 1],
      name: ["id", "n", "x"],
      type: ["bigint", "integer", "text"],
      nullable: [false, true, true],
      default: [null, "1", null],
      identity: ["a", "", null],
      generated: ["", "s", false],
      comment: [null, null, null],
    },
    foreign_keys: [],
    enums: [],
    roles: [],
    functions: [],
  });

  expect(catalog.tablesByOid.get("1")?.columns.map(({ name }) => name)).toEqual(["id", "n"]);
  expect(catalog.tables[0]?.columns[0]).toMatchObject({ identity: "a", isGenerated: false });
  expect(catalog.tables[0]?.columns[1]).toMatchObject({ identity: null, isGenerated: true });
  expect(catalog.tables[1]).toMatchObject({ kind: "v", comment: "view", key: [] });
});
