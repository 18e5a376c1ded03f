import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it, vi } from "vitest";
import { useDeletePhoto, useUploadPhoto } from "./change-photos";

vi.mock("@/lib/picture-file", async (original) => ({
  ...(await original<typeof import("@/lib/picture-file")>()),
  preparePicture: async (file: File) => file,
}));
vi.mock("@/lib/resumable-upload", async (original) => ({
  ...(await original<typeof import("@/lib/resumable-upload")>()),
  uploadResumably: async () => "training-images/mira/new.png",
}));

const client = new QueryClient();
const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={client}>{children}</QueryClientProvider>
);

it("a photo that another device has put into the slot meanwhile stays when the former one is deleted", async () => {
  const deleted: URL[] = [];
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const url = new URL(String(input), "http://site.test");
    if (init?.method === "DELETE" && url.pathname.includes("/rest/")) deleted.push(url);
    return Response.json([]);
  });
  const { result } = renderHook(() => useDeletePhoto("mira"), { wrapper });
  await result.current.mutateAsync({
    slot: 2,
    path: "training-images/mira/former.jpg",
    url: null,
  });

  expect(deleted.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
    {
      user_id: "eq.mira",
      image_order: "eq.2",
      image_url: "eq.training-images/mira/former.jpg",
    },
  ]);
});

it.each([
  ["goes when its row is refused", false, 1],
  ["stays when the answer about its row is lost, because the row may be there", true, 0],
])("the file of a new photo %s", async (_what, isLost, removals) => {
  let removed = 0;
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    if (String(input).includes("/storage/") && init?.method === "DELETE") removed += 1;
    if (!String(input).includes("/rest/")) return Response.json([]);
    if (isLost) throw new TypeError("Failed to fetch");
    return Response.json({ message: "no", code: "42501" }, { status: 403 });
  });
  const { result } = renderHook(() => useUploadPhoto("mira", 2), { wrapper });
  const upload = result.current.mutateAsync({
    file: new File(["x"], "me.png", { type: "image/png" }),
    replaced: undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
  });

  await expect(upload).rejects.toMatchObject({ name: "ServiceError" });
  expect(removed).toBe(removals);
});
